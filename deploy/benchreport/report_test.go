package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `goos: linux
goarch: amd64
pkg: waypost/shared/link
cpu: Some CPU
BenchmarkParse-2   	 1000	 300 ns/op	 16 B/op	 1 allocs/op
BenchmarkParse-2   	 1000	 100 ns/op	 16 B/op	 1 allocs/op
PASS
ok  	waypost/shared/link	1.2s
pkg: waypost/shared/feed
BenchmarkParse-2   	 1000	 7 ns/op
?   	waypost/bench	[no test files]
`

func TestReportHoldsEveryRepetitionAndTheMedianOfThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	jsonPath, markdownPath := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.md")
	args := []string{"-commit", "abc", "-json", jsonPath, "-markdown", markdownPath}
	if err := run(args, strings.NewReader(sample), os.Stderr); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(jsonPath)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if r.Commit != "abc" || r.Machine.CPU != "Some CPU" || r.Machine.OS != "linux" || r.Machine.Cores < 1 {
		t.Errorf("commit %q on %+v, want abc on the sample's machine", r.Commit, r.Machine)
	}
	if len(r.Results) != 2 {
		t.Fatalf("%d results, want 2", len(r.Results))
	}
	if got := r.Results[0].Values["ns/op"]; len(got) != 2 || got[0] != 300 || got[1] != 100 {
		t.Errorf("ns/op = %v, want [300 100]", got)
	}
	markdown, err := os.ReadFile(markdownPath)
	if err != nil {
		t.Fatal(err)
	}
	want := "| waypost/shared/link | BenchmarkParse-2 | 16 B/op, 1 allocs/op, 200 ns/op |\n" +
		"| waypost/shared/feed | BenchmarkParse-2 | 7 ns/op |\n"
	if !strings.Contains(string(markdown), want) {
		t.Errorf("Markdown lacks the rows\n%sit is\n%s", want, markdown)
	}
}

func TestUnreadableBenchmarkLineIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := parse(strings.NewReader("BenchmarkX 10 fast ns/op\n")); err == nil {
		t.Error("no error")
	}
}
