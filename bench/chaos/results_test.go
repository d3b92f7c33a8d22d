package chaos

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// save keeps the results of long versions in the folder WAYPOST_CHAOS_RESULTS, an absolute path, if that is set.
func save(t *testing.T, results []Result) {
	t.Helper()
	dir := os.Getenv("WAYPOST_CHAOS_RESULTS")
	if dir == "" || testing.Short() {
		return
	}
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	report := Report{
		Command: "go test -race -run TestChaos waypost/bench/chaos", Commit: strings.TrimSpace(string(commit)),
		At: time.Now().UTC(), Cores: runtime.NumCPU(), Go: runtime.Version(), Results: results,
	}
	if err := report.Save(dir); err != nil {
		t.Errorf("results: %v", err)
	}
}
