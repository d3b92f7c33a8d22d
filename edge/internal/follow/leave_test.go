package follow

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

func TestTheLastProbeLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		e.push(c.write(0, 1)...)
		if err := e.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.Probe()
		time.Sleep(10 * probeEvery)
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, p := range c.probes {
			if last := i == len(c.probes)-1; p.Leaving != last {
				t.Errorf("probe %d of %d: leaving is %v", i+1, len(c.probes), p.Leaving)
			}
		}
		if last := c.probes[len(c.probes)-1]; last.Member != e.Member() || last.Applied[0] != 6 {
			t.Errorf("got %+v, want this member at position 6", last.Probe)
		}
	})
}

func TestLeavingWaitsForProbesInFlight(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		const slow = leaveWait / 2
		c.set(func(c *center) { c.delay = func(int) time.Duration { return slow } })
		time.Sleep(probeEvery + 2*probeSpacing) // one is in flight
		sent := c.last()
		if err := e.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if gap := c.last().Sub(sent); gap < slow {
			t.Errorf("the last probe came %v after one that took %v", gap, slow)
		}
	})
}

func TestLeavingIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.set(func(c *center) { c.delay = func(int) time.Duration { return time.Hour } })
		time.Sleep(probeEvery)
		began := time.Now()
		if err := e.Leave(t.Context()); err == nil {
			t.Error("got no error from an origin that does not answer")
		}
		if took := time.Since(began); took > leaveTimeout {
			t.Errorf("took %v, want at most %v", took, leaveTimeout)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.probes[len(c.probes)-1].Leaving {
			t.Error("the origin was not told")
		}
	})
}

func TestAnEndedFollowerCannotLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(newCenter(), feed.NewTable(slots, 1))
		e.run(t)
		e.end(t)
		if err := e.Leave(t.Context()); !errors.Is(err, errEnded) {
			t.Errorf("got %v, want %v", err, errEnded)
		}
	})
}
