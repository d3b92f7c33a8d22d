package follow

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// center is an origin whose history a test writes.
type center struct {
	mu     sync.Mutex
	epoch  uint64
	log    [feed.AllShards][]*feed.Change // position i+1 at index i
	gone   uint64                         // positions up to it are no longer kept
	down   error
	heads  int
	pages  int
	lastAt time.Time     // of the last request for changes
	hold   chan struct{} // changes are answered when it is closed
}

func (c *center) Heads(context.Context) (*feed.Heads, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heads++
	if c.down != nil {
		return nil, c.down
	}
	h := &feed.Heads{Epoch: c.epoch, Now: time.Now().Add(time.Hour).UnixMicro()}
	for i := range h.Seq {
		h.Seq[i] = uint64(len(c.log[i]))
	}
	return h, nil
}

func (c *center) Changes(_ context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages++
	c.lastAt = time.Now()
	if hold := c.hold; hold != nil { // answered as of now, but later
		answer := &feed.Changes{Epoch: c.epoch, Shard: shard, Head: uint64(len(c.log[shard])), Rows: c.log[shard][from:]}
		c.mu.Unlock()
		<-hold
		c.mu.Lock()
		return answer, nil
	}
	if c.down != nil {
		return nil, c.down
	}
	head := uint64(len(c.log[shard]))
	answer := &feed.Changes{Epoch: c.epoch, Shard: shard, Head: head}
	if epoch != c.epoch || from > head || from < c.gone {
		answer.Reset = true
		return answer, nil
	}
	rows := c.log[shard][from:]
	answer.Rows = rows[:min(len(rows), 3)] // small pages
	return answer, nil
}

func (c *center) Config(context.Context) (*feed.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil {
		return nil, c.down
	}
	cfg := &feed.Config{Epoch: c.epoch}
	for _, change := range c.log[feed.ConfigShard] {
		cfg = cfg.With(change)
	}
	return cfg, nil
}

func (c *center) write(shard, n int) (made []*feed.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		change := &feed.Change{
			Epoch: c.epoch, Shard: shard, Seq: uint64(len(c.log[shard]) + 1), Kind: feed.Create,
			Key: link.Key{Code: "row"}, Value: `{"host":"row"}`,
		}
		c.log[shard] = append(c.log[shard], change)
		made = append(made, change)
	}
	return made
}

func (c *center) probed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heads
}

// restore goes back to an older state of shard 0, in a new epoch.
func (c *center) restore(epoch uint64, head int) {
	c.epoch = epoch
	c.log[0] = c.log[0][:head]
	for _, shard := range []int{0, feed.ConfigShard} {
		for _, change := range c.log[shard] {
			change.Epoch = epoch
		}
	}
}

func (c *center) asked() (pages int, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages, c.lastAt
}

func (c *center) set(change func(*center)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// edge is a running follower; applied counts what it applied.
type edge struct {
	*Follower
	table   *feed.Table
	mu      sync.Mutex
	applied []*feed.Change
	stop    context.CancelFunc
	stopped chan error
}

// start runs a follower without NATS; the test hands it feed messages.
func start(t *testing.T, c *center) *edge {
	t.Helper()
	e := &edge{table: feed.NewTable(64, 1), stopped: make(chan error, 1)}
	e.Follower = New(Config{
		Table: e.table, Origin: c, Logger: slog.New(slog.DiscardHandler),
		Applied: func(change *feed.Change) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.applied = append(e.applied, change)
		},
		Probed: func(error) {},
		Fault:  func(err error) { t.Error(err) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	e.stop = cancel
	go func() { e.stopped <- e.Run(ctx) }()
	return e
}

func (e *edge) push(changes ...*feed.Change) {
	for _, c := range changes {
		e.messages <- c
	}
}

func (e *edge) at(t *testing.T, shard int, epoch, want uint64) {
	t.Helper()
	synctest.Wait()
	gotEpoch, got, ok := e.table.Position(shard)
	if !ok || gotEpoch != epoch || got != want {
		t.Errorf("shard %d: got (%d, %d, %v), want (%d, %d)", shard, gotEpoch, got, ok, epoch, want)
	}
}

func (e *edge) end(t *testing.T) {
	t.Helper()
	e.stop()
	if err := <-e.stopped; err != nil {
		t.Error(err)
	}
}

func inBubble(t *testing.T, test func(*testing.T, *center, *edge)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &center{epoch: 1}
		c.write(0, 5)
		c.write(feed.ConfigShard, 2)
		e := start(t, c)
		e.at(t, 0, 1, 5)
		e.at(t, feed.ConfigShard, 1, 2)
		test(t, c, e)
		e.end(t)
	})
}

func TestBootTakesUpAtTheHeads(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *center, e *edge) {
		t.Helper()
		if len(e.applied) != 0 {
			t.Errorf("got %d applied changes, want none", len(e.applied))
		}
		if cfg := e.Settings(); cfg == nil || cfg.Seq != 2 {
			t.Errorf("config: got %+v, want position 2", cfg)
		}
	})
}

func TestChangesInOrderAreAppliedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		e.push(c.write(0, 3)...)
		e.at(t, 0, 1, 8)
		if pages, _ := c.asked(); pages != 0 {
			t.Errorf("got %d requests for changes, want none", pages)
		}
	})
}

func TestReorderedAndRepeatedChangesAreAppliedOnceInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		made := c.write(0, 4)
		e.push(made[2], made[1], made[1], made[3], made[2], made[0], made[0])
		e.at(t, 0, 1, 9)
		for i, got := range e.applied {
			if want := uint64(6 + i); got.Seq != want {
				t.Errorf("applied %d: got position %d, want %d", i, got.Seq, want)
			}
		}
		if pages, _ := c.asked(); len(e.applied) != 4 || pages != 0 {
			t.Errorf("got %d applied and %d requests, want 4 and none", len(e.applied), pages)
		}
	})
}

func TestALostChangeIsFetchedAfterAPatience(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		shown := time.Now()
		e.push(c.write(0, 2)[1])
		e.at(t, 0, 1, 5)
		time.Sleep(3 * gapPatience)
		e.at(t, 0, 1, 7)
		_, last := c.asked()
		if waited := last.Sub(shown); waited < gapPatience {
			t.Errorf("asked %v after the gap showed, want at least %v", waited, gapPatience)
		}
		if got := e.Stats(); got.Gaps != 1 || got.CaughtUp == 0 {
			t.Errorf("stats: got %+v, want one gap and changes caught up", got)
		}
	})
}

func TestAProbeShowsALostLastChange(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.write(0, 10)
		time.Sleep(probeEvery + 3*gapPatience)
		e.at(t, 0, 1, 15)
		if pages, _ := c.asked(); pages < 4 {
			t.Errorf("got %d pages of 3 for 10 changes", pages)
		}
	})
}

func TestAHistoryThatIsGoneResetsTheShard(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.write(0, 10)
		c.set(func(c *center) { c.gone = 12 })
		time.Sleep(probeEvery + 3*gapPatience)
		e.at(t, 0, 1, 15)
		if len(e.applied) != 0 {
			t.Errorf("got %d applied, want none: the shard was reset", len(e.applied))
		}
	})
}

func TestANewEpochResetsEveryShard(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.set(func(c *center) { c.restore(2, 3) })
		made := c.write(0, 1)
		e.push(made...) // shows the new epoch: probed before the next one is due
		time.Sleep(2 * probeApart)
		e.at(t, 0, 2, 4)
		e.at(t, 1, 2, 0)
		e.at(t, feed.ConfigShard, 2, 2)
		e.push(&feed.Change{Epoch: 1, Shard: 0, Seq: 6, Kind: feed.Create})
		e.at(t, 0, 2, 4)
	})
}

func TestSightingsOfANewerEpochShareProbes(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		before := c.probed()
		for range 1000 {
			e.Probe()
			time.Sleep(time.Millisecond / 10)
		}
		synctest.Wait()
		if got := c.probed() - before; got < 2 || got > 6 {
			t.Errorf("got %d probes in 100 ms, want one in %v or %v at most", got, probeApart, probeApart+tick)
		}
	})
}

func TestALateAnswerOfAnOldEpochChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		release := make(chan struct{})
		c.set(func(c *center) { c.hold = release })
		e.push(c.write(0, 40)[39]) // shows a gap: a fetch begins, and hangs
		time.Sleep(3 * gapPatience)
		c.set(func(c *center) { c.restore(2, 3) })
		time.Sleep(2 * probeEvery)
		e.at(t, 0, 2, 3)
		close(release)
		c.set(func(c *center) { c.hold = nil })
		synctest.Wait()
		before, _ := c.asked()
		c.write(0, 1) // lost: found by the next probe
		time.Sleep(time.Second)
		e.at(t, 0, 2, 4)
		if pages, _ := c.asked(); pages-before > 3 {
			t.Errorf("asked for changes %d times for one that was lost", pages-before)
		}
	})
}

func TestTheConfigFollowsItsShard(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		e.push(c.write(feed.ConfigShard, 1)...)
		e.at(t, feed.ConfigShard, 1, 3)
		if got := e.Settings().Seq; got != 3 {
			t.Errorf("config: got position %d, want 3", got)
		}
		c.write(feed.ConfigShard, 1) // lost
		time.Sleep(probeEvery + 3*gapPatience)
		e.at(t, feed.ConfigShard, 1, 4)
		if got := e.Settings().Seq; got != 4 {
			t.Errorf("config after a lost change: got position %d, want 4", got)
		}
	})
}

func TestAFailingOriginIsAskedLessAndLess(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		made := c.write(0, 2)
		c.set(func(c *center) { c.down, c.pages = errors.New("down"), 0 })
		e.push(made[1])
		time.Sleep(10 * time.Second)
		if pages, _ := c.asked(); pages < 3 || pages > 30 {
			t.Errorf("got %d requests for changes in 10 s, want a few", pages)
		}
		c.set(func(c *center) { c.down = nil })
		time.Sleep(3 * time.Second)
		e.at(t, 0, 1, 7)
	})
}

func TestWaitingChangesAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		made := c.write(0, maxPending+500)
		c.set(func(c *center) { c.down = errors.New("down") })
		e.push(made[1:]...)
		e.at(t, 0, 1, 5)
		c.set(func(c *center) { c.down = nil })
		time.Sleep(5 * time.Second)
		e.at(t, 0, 1, uint64(5+len(made)))
		// Those that were kept came from the feed, the others from the origin.
		// The first page brings two rows that were kept as well.
		if got := e.Stats().CaughtUp; got != uint64(len(made)-maxPending+2) {
			t.Errorf("caught up: got %d, want %d", got, len(made)-maxPending+2)
		}
	})
}

func TestTheClockIsTheProbes(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *center, e *edge) {
		t.Helper()
		time.Sleep(time.Second)
		// The origin's clock is an hour ahead, and a bubble's network takes no time.
		if got, want := e.Now(), time.Now().Add(time.Hour).UnixMicro(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	})
}

func TestTheClockPrefersShortRoundTrips(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock Clock
		at := time.Now()
		clock.Observe(1_000_000, at, at.Add(10*time.Millisecond))
		clock.Observe(9_000_000, at, at.Add(100*time.Millisecond)) // slower: dropped
		if got, want := clock.Now(), int64(1_000_000-5_000); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
		time.Sleep(2 * window)
		at = time.Now()
		clock.Observe(9_000_000, at, at.Add(100*time.Millisecond)) // the old one is too old
		if got, want := clock.Now(), int64(9_000_000-50_000); got != want {
			t.Errorf("after %v: got %d, want %d", 2*window, got, want)
		}
	})
}
