package redirects

import (
	"os"
	"testing"

	"waypost/bench/measure"
)

// TestRedirects measures every row. With the folder WAYPOST_MEASURE_RESULTS, an absolute path, the counts are those of
// the figures, and the report is kept there; it wants binaries without the race detector. Without it every row is
// measured all the same, in a small way: what it shows is that all can be measured, and that all answers are right. What
// misses its bar never fails.
func TestRedirects(t *testing.T) {
	t.Parallel()
	m := newMeasuring(t)
	t.Run("hits", func(t *testing.T) {
		m.beside(t)
		s := m.stage(t, m.Times(50, manyCodes))
		t.Run("one", s.hitsOfOne)
		t.Run("many", s.hitsOfMany)
	})
	t.Run("tiers", func(t *testing.T) {
		m.beside(t)
		c := m.cold(t, m.Times(500, 100_000), nil)
		t.Run("times", c.times)
		t.Run("unknown", c.unknownCodes)
	})
	t.Run("zipf", func(t *testing.T) {
		m.beside(t)
		s := m.skewed(t, m.Times(2000, 1_000_000))
		t.Run("rest", s.atRest)
		t.Run("changes", s.underChanges)
		t.Run("idle", s.besideIdle)
	})
	t.Run("links", func(t *testing.T) {
		m.beside(t)
		t.Run("create", m.creates)
	})
	t.Run("edges", func(t *testing.T) {
		m.beside(t)
		t.Run("origin", m.edgesAtOrigin)
	})
	t.Run("growth", func(t *testing.T) {
		m.beside(t)
		g := m.growing(t, m.sizes())
		t.Run("times", g.times)
		t.Run("classic", g.million().classic)
		t.Run("memory", g.million().memory)
		t.Run("hits", g.hits)
	})
}

// measuring is one run, and what it is measured on.
type measuring struct {
	*measure.Run
	ten bool // growth up to ten million links
}

func newMeasuring(t *testing.T) *measuring {
	t.Helper()
	return &measuring{ten: os.Getenv("WAYPOST_REDIRECTS_TEN") == "1", Run: measure.Start(t, measure.Config{
		Name: "redirects", Command: "make redirects", Bin: binDir, Results: os.Getenv("WAYPOST_MEASURE_RESULTS"),
		Settings: []string{
			"One core for the servers that are measured, which are asked in turns (taskset, one worker or GOMAXPROCS=1); another one for the load and for what an edge has behind it: " +
				"origin, PostgreSQL with fsync, Redis, NATS. What stands behind a peer (Redis, PostgreSQL) shares the peer's core, and its CPU is the peer's.",
			"On the load's core the load goes first, then the edges' Redis, then the others, which would have machines of their own (niceness −20, −19 and 0, slices of 0.1 ms for the first two, this session −10 to PostgreSQL's 0).",
			"An edge and an origin as built for release, positions and clicks in a state folder on this machine's disk, all features on: limiter `async`, asked for every request and never used up; " +
				"every redirect counted as a click, shipped and applied meanwhile; metrics, an audit of one in 1,000, Cache-Status.",
			"The peers are configured as `bench/peers` says: nginx with `limit_req` and an access log, the others without limiter and log, the Redis-only design with its clicks.",
			"CPU is what the kernel's scheduler charges to all threads of a server's processes, for all that they do, an edge's until its clicks are counted at the origin. What the kernel does for a packet on loopback it charges to the sender.",
			"Values are medians of turns, with the least and the largest turn.",
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
