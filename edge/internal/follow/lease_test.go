package follow

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

var errDown = errors.New("down")

func TestALeaseRunsFromWhenItsProbeWasSent(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		const slow = 30 * time.Millisecond
		c.set(func(c *center) { c.delay = func(int) time.Duration { return slow } })
		time.Sleep(5 * probeEvery)
		for shard := range feed.AllShards {
			if age := time.Duration(e.Instant() - e.table.Lease(shard)); age > probeEvery+slow {
				t.Errorf("shard %d: the lease is %v old, want at most %v", shard, age, probeEvery+slow)
			}
		}
		sent := c.last()
		time.Sleep(slow)
		e.leased(t, 0, sent)
		e.leased(t, feed.ConfigShard, sent)
		if got, want := e.LeaseAge(), time.Since(sent); got != want {
			t.Errorf("age: got %v, want %v", got, want)
		}
		if got := e.Bound(); got != time.Second {
			t.Errorf("bound: got %v, want 1s", got)
		}
		if got := e.Round(); got <= 0 || got > slow {
			t.Errorf("round trip: got %v, want up to %v", got, slow)
		}
	})
}

func TestALeaseWaitsForItsHead(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		time.Sleep(probeEvery)
		synctest.Wait()
		before := c.last()
		c.set(func(c *center) { c.closed = errDown })
		made := append(c.write(0, 2), c.write(feed.ConfigShard, 1)...)
		time.Sleep(probeEvery)
		e.leased(t, 0, before)
		e.leased(t, feed.ConfigShard, before)
		e.leased(t, 1, c.last())
		e.push(made[0])
		e.leased(t, 0, before)
		e.push(made[1])
		e.leased(t, 0, c.last())
		e.leased(t, feed.ConfigShard, before)
		e.push(made[2])
		e.leased(t, feed.ConfigShard, c.last())
	})
}

func TestAnswersThatWereOvertakenTakeNothingBack(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		const slow = 3 * probeEvery / 2
		time.Sleep(probeEvery) // past the probes of the start
		synctest.Wait()
		next := c.probed() + 1
		c.set(func(c *center) {
			c.bound = 2 * time.Second
			c.delay = func(probe int) time.Duration {
				if probe == next {
					return slow
				}
				return 0
			}
		})
		time.Sleep(probeEvery)
		synctest.Wait()
		c.set(func(c *center) { c.bound = time.Second })
		time.Sleep(probeEvery / 4) // the next one has come
		e.leased(t, 0, c.last())
		time.Sleep(probeEvery / 2) // and now the slow one
		e.leased(t, 0, c.last())
		if got := e.Bound(); got != time.Second {
			t.Errorf("bound: got %v, want the later one, 1s", got)
		}
	})
}

func TestAnAnswerOfAnOldEpochIsDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		time.Sleep(probeEvery)
		synctest.Wait()
		next := c.probed() + 1
		c.set(func(c *center) {
			c.delay = func(probe int) time.Duration {
				if probe == next {
					return 3 * probeEvery / 2
				}
				return 0
			}
		})
		time.Sleep(probeEvery)
		synctest.Wait()
		c.set(func(c *center) { c.epoch, c.log, c.bound = 2, [feed.AllShards][]*feed.Change{}, 2*time.Second })
		time.Sleep(probeEvery)
		e.at(t, 0, 2, 0)
		c.set(func(c *center) { c.down = errDown })
		before := e.table.Lease(0)
		time.Sleep(probeEvery)
		e.at(t, 0, 2, 0)
		e.at(t, feed.ConfigShard, 2, 0)
		if got := e.table.Lease(0); got != before {
			t.Errorf("lease: got %v, want that of the new epoch, %v", got, before)
		}
		if got := e.Bound(); got != 2*time.Second {
			t.Errorf("bound: got %v, want that of the new epoch, 2s", got)
		}
		if got := strings.Count(e.logged.String(), "epoch that has passed"); got != 1 {
			t.Errorf("got %d log lines of the old answer, want 1", got)
		}
	})
}

func TestANewEpochIsFreshAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		time.Sleep(probeEvery / 2)
		c.set(func(c *center) { c.epoch, c.log = 2, [feed.AllShards][]*feed.Change{} })
		time.Sleep(probeEvery * 4 / 5) // for the probe that is due and one at once after it
		e.at(t, feed.ConfigShard, 2, 0)
		e.leased(t, feed.ConfigShard, c.last())
		if got := e.Settings().Epoch; got != 2 {
			t.Errorf("config: got epoch %d, want 2", got)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if last := c.probes[len(c.probes)-1]; last.Epoch != 2 || last.Applied[0] != 0 {
			t.Errorf("the probe after it says epoch %d, position %d, want 2, 0", last.Epoch, last.Applied[0])
		}
	})
}

func TestAnOutageEndsLeasesAndItsEndBringsThemBack(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		time.Sleep(probeEvery)
		c.set(func(c *center) { c.down = errDown })
		c.write(0, 1)
		c.write(7, 1)
		time.Sleep(10 * time.Second)
		if age := e.LeaseAge(); age < 10*time.Second-probeEvery {
			t.Errorf("the lease is %v old, though no probe was answered for 10s", age)
		}
		pages, _ := c.asked()
		c.set(func(c *center) { c.down = nil })
		time.Sleep(probeEvery)
		e.leased(t, 1, c.last()) // of a shard that missed nothing
		time.Sleep(maxJitter + 3*gapPatience + probeEvery)
		e.at(t, 0, 1, 6)
		e.at(t, 7, 1, 1)
		if age := e.LeaseAge(); age > probeEvery {
			t.Errorf("after the outage the lease is %v old", age)
		}
		if got, _ := c.asked(); got != pages+2 {
			t.Errorf("got %d pages, want one for each of two shards", got-pages)
		}
	})
}

func TestEdgesSpreadTheirFetchesAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const edges = 8
		c := newCenter()
		var all [edges]*edge
		for i := range all {
			all[i] = start(t, c)
		}
		time.Sleep(probeEvery)
		c.set(func(c *center) { c.down = errDown })
		time.Sleep(10 * time.Second)
		c.write(0, 1)
		c.set(func(c *center) { c.down = nil })
		at := make(map[time.Duration]int)
		for waited := time.Duration(0); waited < maxJitter+probeEvery; waited += tick {
			before, _ := c.asked()
			time.Sleep(tick)
			synctest.Wait()
			after, _ := c.asked()
			at[waited] = after - before
		}
		for waited, pages := range at {
			if pages > edges/2 {
				t.Errorf("%d of %d edges fetched in the same %v, %v after the outage", pages, edges, tick, waited)
			}
		}
		for _, e := range all {
			e.at(t, 0, 1, 6)
			e.end(t)
		}
	})
}

func TestProbesInFlightAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.set(func(c *center) { c.delay = func(int) time.Duration { return time.Hour } })
		for range 500 {
			e.Probe()
			time.Sleep(tick)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.most != maxProbes {
			t.Errorf("got up to %d probes in flight, want %d", c.most, maxProbes)
		}
	})
}

func TestProbesOutOfTurnAreSpaced(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.set(func(c *center) { c.down = errDown })
		before := c.probed()
		for range 1000 {
			e.Probe()
			time.Sleep(time.Millisecond)
		}
		if got, most := c.probed()-before, int(time.Second/probeSpacing)+1; got > most || got < most/2 {
			t.Errorf("got %d probes in a second, want about %d and no more", got, most)
		}
	})
}

func TestATightBoundIsWarnedOfOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		for _, bound := range []time.Duration{time.Second, 300 * time.Millisecond, time.Second} {
			c.set(func(c *center) { c.bound = bound })
			time.Sleep(5 * probeEvery)
			synctest.Wait()
		}
		logged := e.logged.String()
		short, again := strings.Index(logged, "too short"), strings.Index(logged, "leaves room")
		if short < 0 || again < short || strings.Count(logged, "level=") != 2 {
			t.Errorf("got %q, want a warning and its end, once each", logged)
		}
	})
}

func TestLagIsByTheOriginsClock(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		made := c.write(0, 1)
		made[0].At = time.Now().Add(time.Hour - 70*time.Millisecond).UnixMicro()
		e.push(made...)
		e.at(t, 0, 1, 6)
		if len(e.lags) != 1 || e.lags[0] != 70*time.Millisecond {
			t.Errorf("got %v, want 70ms", e.lags)
		}
	})
}
