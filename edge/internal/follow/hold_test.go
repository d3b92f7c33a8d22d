package follow

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

// heldAt is what a follower said of its leases.
type heldAt struct {
	mu   sync.Mutex
	said []bool
	at   []time.Time
}

func (h *heldAt) config(cfg *Config) {
	cfg.Held = func(held bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.said, h.at = append(h.said, held), append(h.at, time.Now())
	}
}

func (h *heldAt) want(t *testing.T, what string, want ...bool) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.said, want) {
		t.Errorf("%s: said %v, want %v", what, h.said, want)
	}
}

// The config's lease comes with the second probe.
func TestLeasesAreHeldOnceEveryShardHasOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, h := newCenter(), new(heldAt)
		c.delay = func(int) time.Duration { return probeEvery / 4 }
		e := newEdge(c, feed.NewTable(slots, 1), h.config)
		e.run(t)
		time.Sleep(probeEvery * 3 / 8) // the first answer has come, the second probe is on its way
		h.want(t, "after the first answer")
		time.Sleep(probeEvery)
		h.want(t, "after the second", true)
		if e.table.Lease(feed.ConfigShard) == 0 {
			t.Error("the config shard has no lease")
		}
		e.end(t)
	})
}

func TestAnOutageEndsHeldLeasesUntilEverythingIsCaughtUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, h := newCenter(), new(heldAt)
		e := newEdge(c, feed.NewTable(slots, 1), h.config)
		e.run(t)
		time.Sleep(probeEvery)
		h.want(t, "at first", true)
		c.set(func(c *center) { c.down = errDown })
		time.Sleep(c.bound)
		h.want(t, "after the bound", true, false)
		c.set(func(c *center) { c.down, c.closed = nil, errDown }) // answers probes, but brings no changes
		missed := c.write(7, 1)
		time.Sleep(5 * time.Second)
		h.want(t, "with a change missing", true, false)
		e.push(missed...)
		time.Sleep(probeEvery)
		h.want(t, "with all changes", true, false, true)
		e.end(t)
	})
}

func TestAnEdgeThatStartsSaysSoonThatItHasNoLeases(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		origin func(*center)
		after  time.Duration
	}{
		"no origin answers":   {func(c *center) { c.down = errDown }, 0},
		"much to catch up to": {func(c *center) { c.closed = errDown }, startPatience},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, h := newCenter(), new(heldAt)
				test.origin(c)
				e := newEdge(c, feed.NewTable(slots, 1), h.config)
				e.run(t)
				time.Sleep(test.after + 2*tick)
				h.want(t, "then", false)
				h.mu.Lock()
				if waited := h.at[0].Sub(e.start); waited < test.after {
					t.Errorf("said after %v, want %v", waited, test.after)
				}
				h.mu.Unlock()
				c.set(func(c *center) { c.down, c.closed = nil, nil })
				time.Sleep(3 * probeEvery)
				h.want(t, "at last", false, true)
				e.end(t)
			})
		})
	}
}

func TestAnEdgeThatLeavesSaysNothingOfItsLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, h := newCenter(), new(heldAt)
		e := newEdge(c, feed.NewTable(slots, 1), h.config)
		e.run(t)
		time.Sleep(probeEvery)
		if err := e.Leave(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * c.bound)
		h.want(t, "after it left", true)
		e.end(t)
	})
}
