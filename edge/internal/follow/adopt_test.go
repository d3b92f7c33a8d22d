package follow

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// found is an enabled link as Redis has it.
func found(epoch uint64) (e *feed.Entry, hash uint64) {
	key := link.Key{Code: "found"}
	return &feed.Entry{Epoch: epoch, AsOf: 3, Version: 3, Key: key, Body: feed.Body{State: feed.Enabled}}, key.Hash()
}

func TestAnEdgeWithoutPositionsAdoptsAnEpochUntilAnOriginAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		c.down = errDown
		e := start(t, c)
		synctest.Wait()
		e.Adopt(t.Context(), 1)
		synctest.Wait()
		entry, hash := found(1)
		view, ok := e.table.View(hash)
		if !ok || !view.Known(entry) || view.Fresh(entry) || view.Lease != 0 {
			t.Errorf("got %v, known %v, fresh %v, lease %d, want known alone", ok, ok && view.Known(entry), ok && view.Fresh(entry), view.Lease)
		}
		e.push(c.write(0, 1)...) // its feed works: no ground to stand on yet
		synctest.Wait()
		if p := e.standing(); p.Applied != [feed.AllShards]uint64{} {
			t.Errorf("got %+v, want no position", p)
		}
		c.set(func(c *center) { c.down = nil })
		time.Sleep(2 * probeEvery)
		e.at(t, 0, 1, 6)
		e.leased(t, 0, c.last())
		e.leased(t, feed.ConfigShard, c.last())
		if pages, _ := c.asked(); pages != 0 {
			t.Errorf("got %d pages of changes, want none", pages)
		}
		view, _ = e.table.View(hash)
		if feed.Shard(hash) == 0 && view.Fresh(entry) {
			t.Error("what is older than the first heads is fresh")
		}
		e.Adopt(t.Context(), 9)
		time.Sleep(probeEvery)
		e.at(t, 0, 1, 6)
		e.end(t)
	})
}

func TestNobodyWaitsLongForAnEpochToBeAdopted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		c.down = errDown
		e := newEdge(c, feed.NewTable(slots, 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e.Adopt(ctx, 1) // nothing runs
		if ctx.Err() == nil {
			t.Error("an epoch was taken up by nobody")
		}
		e.run(t)
		synctest.Wait()
		began := time.Now()
		for epoch := range uint64(4) {
			e.Adopt(t.Context(), epoch)
		}
		if view, ok := e.table.View(0); !ok || view.Epoch != 3 || time.Since(began) != 0 {
			t.Errorf("got epoch %d (%v) after %v, want 3 at once", view.Epoch, ok, time.Since(began))
		}
		e.end(t)
		e.Adopt(t.Context(), 5) // nothing runs any more
	})
}

func TestNothingIsAdoptedBesideAnOriginThatAnswers(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *center, e *edge) {
		t.Helper()
		e.Adopt(t.Context(), 9)
		e.at(t, 0, 1, 5)
	})
	t.Run("not before a probe has failed", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := newCenter()
			c.delay = func(int) time.Duration { return probeEvery }
			e := start(t, c)
			synctest.Wait()
			e.Adopt(t.Context(), 9)
			time.Sleep(2 * probeEvery)
			e.at(t, 0, 1, 5)
			e.end(t)
		})
	})
}
