package measure

import (
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Config says what a Run measures.
type Config struct {
	Name     string   // of the report's files
	Command  string   // by which it was started
	Settings []string // of what is measured, a sentence each
	Bin      string   // folder of the binaries that are measured
	// Results is the folder, an absolute path, in which the report is kept. The counts are those of the figures then, and
	// the binaries must be as released. "": a small run, whose report is forgotten; what it shows is that all can be
	// measured.
	Results string
}

// Run is one run of measurements: how much of everything, and what was found. What misses its bar never fails. Safe for
// concurrent use.
type Run struct {
	full   bool
	folder string // of the report

	mu     sync.Mutex
	report Report
}

// Start begins a run. Its report is written with every figure, so that a run that is cut off leaves what it found.
func Start(t *testing.T, cfg Config) *Run {
	t.Helper()
	r := &Run{full: cfg.Results != "", folder: cfg.Results, report: Report{
		Name: cfg.Name, Command: cfg.Command, Commit: "unknown", At: time.Now().UTC().Truncate(time.Second),
		Machine: ThisMachine(), Settings: cfg.Settings,
	}}
	if commit, err := exec.CommandContext(t.Context(), "git", "describe", "--always", "--dirty").Output(); err == nil {
		r.report.Commit = strings.TrimSpace(string(commit))
	}
	if r.full {
		wantRelease(t, cfg.Bin)
	} else {
		r.folder = t.TempDir()
	}
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.report.Figures) == 0 { // results of before stay
			t.Error("nothing was measured: rows are named group/row, such as near/spread")
		}
	})
	return r
}

// wantRelease fails the test unless the binaries under test are as they are released.
func wantRelease(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"waypost-edge", "waypost-origin"} {
		info, err := buildinfo.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("figures need built binaries: %v", err)
		}
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" || s.Key == "-tags" && s.Value != "" {
				t.Fatalf("%s is not as released: it is built with %s=%s", name, s.Key, s.Value)
			}
		}
	}
}

// Full reports whether the run is for figures.
func (r *Run) Full() bool { return r.full }

// Times is a count, of the small run or of the full one.
func (r *Run) Times(small, full int) int {
	if r.full {
		return full
	}
	return small
}

// Lasting is a time, of the small run or of the full one.
func (r *Run) Lasting(small, full time.Duration) time.Duration {
	if r.full {
		return full
	}
	return small
}

// Found keeps a figure of the row that is being measured: what stands in the test's name behind the first slash.
func (r *Run) Found(t *testing.T, f Figure) {
	t.Helper()
	_, f.Row, _ = strings.Cut(t.Name(), "/")
	if f.N == 0 || len(f.Values) == 0 {
		t.Errorf("%s: nothing was measured", f.Name)
	}
	r.mu.Lock()
	r.report.Figures = append(r.report.Figures, f)
	err := r.report.Save(r.folder)
	r.mu.Unlock()
	if err != nil {
		t.Errorf("results: %v", err)
	}
	t.Logf("%s: %s, of %d %s; bar: %s; %s", f.Name, f.measured(), f.N, f.Unit, f.bars(), f.verdict())
}
