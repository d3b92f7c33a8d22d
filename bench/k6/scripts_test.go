package k6

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"waypost/bench/fleet"
)

func TestScriptsAreJavaScript(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.js")
	if err != nil || len(files) < 3 {
		t.Fatalf("got the scripts %v, %v, want three at least", files, err)
	}
	for _, file := range files {
		source, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.Parse(parse.NewInput(source), js.Options{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	}
}

// run runs a script for a second against a server with so many links.
func run(t *testing.T, url, script, links string) (said string, err error) {
	t.Helper()
	program := os.Getenv("WAYPOST_TEST_K6")
	if program == "" {
		t.Fatal("WAYPOST_TEST_K6 does not name k6: run `make k6`, or the tests by `make test-long`")
	}
	cmd := exec.CommandContext(t.Context(), program, "run", "--quiet", "--no-color", "--no-usage-report", "--address", "",
		"-e", "EDGE="+url, "-e", "LINKS="+links, "-e", "RATE=200", "-e", "USERS=10", "-e", "DURATION=1s", script)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestScriptsCheckEveryAnswer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("k6 takes minutes to build, so the long version alone runs it")
	}
	f := fleet.Start(t, fleet.Spec{Binaries: binaries, Edges: []string{"eu"}})
	if out, err := exec.CommandContext(t.Context(), "../wrk/seed.sh", "http://"+f.Origins[0].API, f.AdminKeys(t)[0], "300").CombinedOutput(); err != nil {
		t.Fatalf("seed.sh: %v: %s", err, out)
	}
	f.Settle(t)
	elsewhere := httptest.NewServer(http.RedirectHandler("https://example.com/elsewhere", http.StatusFound))
	defer elsewhere.Close()
	for _, script := range []string{"rate.js", "users.js"} {
		if said, err := run(t, "http://"+f.Edges[0].Addr, script, "300"); err != nil || !strings.Contains(said, "✓ location") {
			t.Errorf("%s: %v:\n%s", script, err, said)
		}
		if said, err := run(t, elsewhere.URL, script, "1"); err == nil || !strings.Contains(said, "✗ location") || !strings.Contains(said, "✓ status") {
			t.Errorf("%s: got error %v of a server that redirects elsewhere, want one by the check of Location alone:\n%s", script, err, said)
		}
	}
}
