package follow

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

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
		if got := e.Stats(); got.Gaps != 1 || got.Repaired != 1 || got.CaughtUp == 0 {
			t.Errorf("stats: got %+v, want one gap, repaired, and changes caught up", got)
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
		c.set(func(c *center) {
			c.epoch = 2
			c.log[0] = c.log[0][:3]
			for _, change := range c.log[0] {
				change.Epoch = 2
			}
			for _, change := range c.log[feed.ConfigShard] {
				change.Epoch = 2
			}
		})
		made := c.write(0, 1)
		time.Sleep(probeSpacing)
		e.push(made...) // shows the new epoch: probed at once
		e.at(t, 0, 2, 4)
		e.at(t, 1, 2, 0)
		e.at(t, feed.ConfigShard, 2, 2)
		e.push(&feed.Change{Epoch: 1, Shard: 0, Seq: 6, Kind: feed.Create})
		e.at(t, 0, 2, 4)
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

func TestAnOriginThatCannotTellIsAskedLessAndLess(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(*center){
		"it fails":                        func(c *center) { c.down = errors.New("down") },
		"its history is of another epoch": func(c *center) { c.other = 7 },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *center, e *edge) {
				t.Helper()
				made := c.write(0, 2)
				c.set(func(c *center) { c.pages = 0 })
				c.set(trouble)
				e.push(made[1])
				time.Sleep(10 * time.Second)
				if pages, _ := c.asked(); pages < 3 || pages > 30 {
					t.Errorf("got %d requests for changes in 10 s, want a few", pages)
				}
				c.set(func(c *center) { c.down, c.other = nil, 0 })
				time.Sleep(3 * time.Second)
				e.at(t, 0, 1, 7)
			})
		})
	}
}

func TestAChangeThatIsOnlyLateIsNoGap(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		made := c.write(0, 2)
		e.push(made[1])
		time.Sleep(gapPatience / 2)
		e.push(made[0])
		time.Sleep(probeEvery)
		e.at(t, 0, 1, 7)
		if got := e.Stats(); got.Gaps != 0 || got.Repaired != 0 || got.CaughtUp != 0 {
			t.Errorf("stats: got %+v, want no gap", got)
		}
	})
}

// A purge of all takes much longer than another change.
func TestProbesGoOnBesideChangesThatTakeLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		const changes, each = 500, 20 * time.Millisecond
		e := newEdge(c, feed.NewTable(slots, 1), func(cfg *Config) {
			cfg.Applied = func(*feed.Change) { time.Sleep(each) }
		})
		e.run(t)
		e.at(t, 0, 1, 5)
		before := c.probed()
		e.push(c.write(0, changes)...)
		time.Sleep(changes * each)
		if got, want := c.probed()-before, int(changes*each/probeEvery); got < want/2 {
			t.Errorf("got %d probes in %v, want about %d", got, changes*each, want)
		}
		e.end(t)
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
