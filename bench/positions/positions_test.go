package positions

import (
	"os"
	"testing"

	"waypost/bench/measure"
)

// TestPositions measures every row. With the folder WAYPOST_MEASURE_RESULTS, an absolute path, the counts are those
// of the figures, and the report is kept there; it wants binaries without the race detector. Without it every row is
// measured all the same, in a small way: what it shows is that all can be measured. What misses its bar never fails.
func TestPositions(t *testing.T) {
	t.Parallel()
	m := newMeasuring(t)
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

// measuring is one run, and what it is measured on.
type measuring struct{ *measure.Run }

func newMeasuring(t *testing.T) *measuring {
	t.Helper()
	return &measuring{measure.Start(t, measure.Config{
		Name: "positions", Command: "make positions", Bin: binDir, Results: os.Getenv("WAYPOST_MEASURE_RESULTS"),
		Settings: []string{
			"All processes, the load's too, share this machine's cores, so every time is longer than it would be with cores of their own.",
			"PostgreSQL with fsync and synchronous commits on this machine's disk, one Redis a region, NATS; loopback throughout.",
			"One origin and four edges, two in eu and two in us, as built for release; one edge for `single` and `tapped`. " +
				"Edges keep their positions in a state folder. B is 1 s, a probe goes out every 200 ms, one in 1,000 answers is audited, the limiter is off; all else by default.",
			"Loads are open loops: each request has its time, and begins then whatever became of those before it.",
			"Percentiles are of all samples, sorted: each is a time that was measured.",
		},
	})}
}

// beside lets a fleet of a small run run beside the others. For figures there is one at a time.
func (m *measuring) beside(t *testing.T) {
	t.Helper()
	if !m.Full() {
		t.Parallel()
	}
}
