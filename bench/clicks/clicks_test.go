package clicks

import (
	"os"
	"testing"

	"waypost/bench/measure"
)

// TestClicks measures every row. With the folder WAYPOST_MEASURE_RESULTS, an absolute path, the counts are those of the
// figures, and the report is kept there; it wants binaries without the race detector. Without it every row is measured
// all the same, in a small way: what it shows is that all can be measured. What misses its bar never fails.
func TestClicks(t *testing.T) {
	t.Parallel()
	m := newMeasuring(t)
	t.Run("code", func(t *testing.T) {
		m.beside(t)
		t.Run("append", m.costOfAppending)
		t.Run("describe", m.costOfDescribing)
		t.Run("stretches", m.costOfAddingUp)
		t.Run("ingest", m.costOfTheIngest)
		t.Run("uniques", m.errorOfUniques)
	})
	t.Run("one", func(t *testing.T) {
		m.beside(t)
		s := m.one(t)
		t.Run("visible", s.clicksShow)
		t.Run("sent", s.stretchesSent)
		t.Run("outage", s.originAway)
		t.Run("restart", s.restartsWithALargeSpool)
	})
	t.Run("two", func(t *testing.T) {
		m.beside(t)
		s := m.two(t)
		t.Run("throughput", s.redirectsWithAndWithout)
	})
}

// measuring is one run, and what it is measured on.
type measuring struct{ *measure.Run }

func newMeasuring(t *testing.T) *measuring {
	t.Helper()
	return &measuring{measure.Start(t, measure.Config{
		Name: "clicks", Command: "make clicks", Bin: binDir, Results: os.Getenv("WAYPOST_MEASURE_RESULTS"),
		Settings: []string{
			"All processes, the load's too, share this machine's cores, so every time is longer than it would be with cores of their own; only for `two` edge and load have a core each.",
			"PostgreSQL with fsync and synchronous commits on this machine's disk, one Redis, NATS; loopback throughout. The Go benchmarks' PostgreSQL does not wait for the disk.",
			"One origin and one edge as built for release, two edges for `two`. Edges keep positions and clicks in a state folder on this machine's disk; `WAYPOST_CLICKS_SYNC` is off. " +
				"The limiter is off but where it is named; all else by default.",
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
