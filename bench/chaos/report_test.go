package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReportIsSavedAsJSONAndMarkdown(t *testing.T) {
	t.Parallel()
	r := Report{
		Command: "make chaos", Commit: "abc", At: time.Unix(0, 0).UTC(), Cores: 2, Go: "go1",
		Results: []Result{
			{
				Scenario: "b", Seed: 7, Seconds: 12.4, Sum: Sum{Reads: 100, Outside: 90, Unmarked: 89, Pairs: 4}, Violations: map[string]int{C1: 3},
				LostWrites: []LostWrites{{Key: "k", Writes: []int{3, 4, 6}}, {Key: "l", Writes: []int{1}}},
				Counts:     map[string]int{"rebuilds": 6, "kills": 2},
			},
			{Scenario: "a"},
		},
	}
	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "chaos.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Results) != 2 || back.Results[1].Violations[C1] != 3 || back.Results[1].Sum.Reads != 100 || len(back.Results[1].LostWrites) != 2 {
		t.Errorf("read back: %+v", back)
	}
	text, err := os.ReadFile(filepath.Join(dir, "chaos.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	if got, want := rows[len(rows)-1], "| b | 0 3 0 0 0 0 | 12 | 100 | 0 | 0 | 0 | 89 of 90 | 0 | 0 | 4 | 4 | 0 | 0 | kills: 2, rebuilds: 6 | 7 |"; got != want {
		t.Errorf("last row:\ngot  %s\nwant %s", got, want)
	}
}
