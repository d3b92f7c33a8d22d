package positions

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPositions measures every row. With the folder WAYPOST_POSITIONS_RESULTS, an absolute path, the counts are those
// of the figures, and the report is kept there; it wants binaries without the race detector. Without it every row is
// measured all the same, in a small way: what it shows is that all can be measured. What misses its bar never fails.
func TestPositions(t *testing.T) {
	t.Parallel()
	m := newMeasuring(t)
	t.Cleanup(func() { m.save(t) })
	t.Run("near", func(t *testing.T) {
		m.beside(t)
		s := m.near(t)
		t.Run("edges", s.writesWithNoDelay)
		t.Run("spread", s.changesSpread)
		t.Run("followers", s.changesSpreadToMany)
		t.Run("stopped", s.writesWithAnEdgeStopped)
		t.Run("import", s.hotReadsBesideAnImport)
		t.Run("nats", s.answersWithoutNATS)
	})
	t.Run("single", func(t *testing.T) {
		m.beside(t)
		s := m.single(t)
		t.Run("restart", s.restarts)
	})
	t.Run("far", func(t *testing.T) {
		m.beside(t)
		s := m.far(t)
		t.Run("spread", s.changesSpreadFar)
		t.Run("edges", s.writesFar)
	})
	t.Run("tapped", func(t *testing.T) {
		m.beside(t)
		s := m.tapped(t)
		t.Run("pipeline", s.hitBesideAFill)
		t.Run("lost", s.lostMessages)
	})
	t.Run("code", func(t *testing.T) {
		m.beside(t)
		t.Run("rule", m.costOfTheRule)
		t.Run("model", m.modelExplored)
	})
}

// measuring is one run: how much of everything, and what was found.
type measuring struct {
	results string // WAYPOST_POSITIONS_RESULTS; "": a small run
	folder  string // of the report

	mu     sync.Mutex
	report Report
}

func newMeasuring(t *testing.T) *measuring {
	t.Helper()
	m := &measuring{results: os.Getenv("WAYPOST_POSITIONS_RESULTS")}
	if m.folder = m.results; m.folder == "" {
		m.folder = t.TempDir()
	}
	m.report = Report{
		Command: "make positions", Commit: "unknown", At: time.Now().UTC().Truncate(time.Second), Machine: ThisMachine(),
		Settings: []string{
			"All processes, the load's too, share this machine's cores, so every time is longer than it would be with cores of their own.",
			"PostgreSQL with fsync and synchronous commits on this machine's disk, one Redis a region, NATS; loopback throughout.",
			"One origin and four edges, two in eu and two in us, as built for release; one edge for `single` and `tapped`. " +
				"Edges keep their positions in a state folder. B is 1 s, a probe goes out every 200 ms, one in 1,000 answers is audited, the limiter is off; all else by default.",
			"Loads are open loops: each request has its time, and begins then whatever became of those before it.",
			"Percentiles are of all samples, sorted: each is a time that was measured.",
		},
	}
	if commit, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		m.report.Commit = strings.TrimSpace(string(commit))
	}
	if m.results != "" {
		wantRelease(t)
	}
	return m
}

// wantRelease fails the test unless the binaries under test are as they are released.
func wantRelease(t *testing.T) {
	t.Helper()
	for _, name := range []string{"waypost-edge", "waypost-origin"} {
		info, err := buildinfo.ReadFile(filepath.Join(binDir, name))
		if err != nil {
			t.Fatalf("figures need built binaries in WAYPOST_TEST_BIN: %v", err)
		}
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" || s.Key == "-tags" && s.Value != "" {
				t.Fatalf("%s is not as released: it is built with %s=%s", name, s.Key, s.Value)
			}
		}
	}
}

// beside lets a fleet of a small run run beside the others. For figures there is one at a time.
func (m *measuring) beside(t *testing.T) {
	t.Helper()
	if !m.full() {
		t.Parallel()
	}
}

// full reports whether the run is for figures.
func (m *measuring) full() bool { return m.results != "" }

// times is a count, of the small run or of the full one.
func (m *measuring) times(small, full int) int {
	if m.full() {
		return full
	}
	return small
}

// lasting is a time, of the small run or of the full one.
func (m *measuring) lasting(small, full time.Duration) time.Duration {
	if m.full() {
		return full
	}
	return small
}

// found keeps a figure of the row that is being measured.
func (m *measuring) found(t *testing.T, f Figure) {
	t.Helper()
	f.Row = strings.TrimPrefix(t.Name(), "TestPositions/")
	if f.N == 0 || len(f.Values) == 0 {
		t.Errorf("%s: nothing was measured", f.Name)
	}
	m.mu.Lock()
	m.report.Figures = append(m.report.Figures, f)
	m.mu.Unlock()
	t.Logf("%s: %s, of %d %s; bar: %s; %s", f.Name, f.measured(), f.N, f.Unit, f.bars(), f.verdict())
}

// save writes the report; that of a small run to where it is forgotten.
func (m *measuring) save(t *testing.T) {
	t.Helper()
	if err := m.report.Save(m.folder); err != nil {
		t.Errorf("results: %v", err)
	}
}
