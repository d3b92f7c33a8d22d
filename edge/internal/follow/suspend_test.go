package follow

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

// sleeper runs a test beside an edge on a machine that can be suspended for a
// while by adding to ahead.
func sleeper(t *testing.T, test func(t *testing.T, c *center, e *edge, ahead *atomic.Int64)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		e := newEdge(c, feed.NewTable(slots, 1))
		var ahead atomic.Int64
		ahead.Store(int64(time.Hour))
		e.suspends.read = func() (time.Duration, error) { return time.Duration(ahead.Load()), nil }
		e.run(t)
		time.Sleep(probeEvery)
		e.at(t, 0, 1, 5)
		test(t, c, e, &ahead)
		e.end(t)
	})
}

func TestASuspendEndsEveryLeaseAndIsFollowedByAProbe(t *testing.T) {
	sleeper(t, func(t *testing.T, c *center, e *edge, ahead *atomic.Int64) {
		t.Helper()
		before := c.probed()
		_, now := e.Clock()
		c.set(func(c *center) { c.down = errDown })
		ahead.Add(int64(time.Minute))
		time.Sleep(tick)
		for shard := range feed.AllShards {
			e.unleased(t, shard)
		}
		if age := e.LeaseAge(); age < time.Minute || age > time.Minute+probeEvery+tick {
			t.Errorf("the leases that ended are %v old, want a minute more than they were", age)
		}
		if got := c.probed(); got != before+1 {
			t.Errorf("got %d probes, want 1 at once", got-before)
		}
		if _, later := e.Clock(); later-now != (time.Minute + tick).Microseconds() {
			t.Errorf("the clock went on by %d µs, want %v", later-now, time.Minute+tick)
		}
		c.set(func(c *center) { c.down = nil })
		time.Sleep(probeEvery)
		e.leased(t, 0, c.last())
		if got := e.Stats().Suspends; got != 1 {
			t.Errorf("got %d suspends, want 1", got)
		}
	})
}

func TestAnswersOfProbesSentBeforeASuspendAreIgnored(t *testing.T) {
	sleeper(t, func(t *testing.T, c *center, e *edge, ahead *atomic.Int64) {
		t.Helper()
		c.set(func(c *center) { c.delay = func(int) time.Duration { return 55 * time.Millisecond } })
		time.Sleep(probeEvery) // in flight
		synctest.Wait()
		c.set(func(c *center) { c.down = errDown })
		ahead.Add(int64(time.Minute))
		time.Sleep(2 * probeEvery)
		e.unleased(t, 0)
	})
}

func TestAnAnswerInTheSameMomentAsASuspendIsIgnored(t *testing.T) {
	sleeper(t, func(t *testing.T, c *center, e *edge, ahead *atomic.Int64) {
		t.Helper()
		synctest.Wait()
		c.set(func(c *center) { c.down = errDown })
		p := probed{sent: e.Instant(), received: e.Instant(), heads: &feed.Heads{Epoch: 1, Bound: 1}}
		p.heads.Seq[0], p.heads.Seq[feed.ConfigShard] = 5, 2
		ahead.Add(int64(time.Minute))
		e.learn(t.Context(), p) // the loop rests
		e.unleased(t, 1)
	})
}

func TestClocksThatDriftAreNoSuspend(t *testing.T) {
	sleeper(t, func(t *testing.T, _ *center, e *edge, ahead *atomic.Int64) {
		t.Helper()
		for range 100 {
			ahead.Add(int64(maxStill)) // a pause between the two reads, or drift
			time.Sleep(tick)
			ahead.Add(-int64(maxStill))
			time.Sleep(tick)
		}
		if got := e.Stats().Suspends; got != 0 {
			t.Errorf("got %d suspends, want none", got)
		}
	})
}

func TestTheKernelsClocksAreCompared(t *testing.T) {
	t.Parallel()
	var s suspends
	s.read = bootLead
	for range 100 {
		if still := s.since(); still != 0 {
			t.Errorf("got a suspend of %v", still)
		}
	}
	if s.lead < 0 {
		t.Errorf("CLOCK_BOOTTIME is %v behind", -s.lead)
	}
}
