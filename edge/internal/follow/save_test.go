package follow

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

// counting counts the saves of a real disk and fails them on demand.
type counting struct {
	osDisk
	saves atomic.Int64
	fail  atomic.Bool
}

func (d *counting) create(path string) (file, error) {
	d.saves.Add(1)
	if d.fail.Load() {
		return nil, errDisk
	}
	return d.osDisk.create(path)
}

// restarted is an edge that takes up what is in the folder, and the count of
// its saves.
func restarted(t *testing.T, c *center, dir string) (*edge, *counting) {
	t.Helper()
	state, err := OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	disk := new(counting)
	state.disk = disk
	saved, err := state.Load(slots)
	if err != nil {
		t.Fatal(err)
	}
	table, settings := feed.NewTable(slots, 1), (*feed.Config)(nil)
	if saved != nil {
		table, settings = saved.Restore(), saved.Config
	}
	return newEdge(c, table, func(cfg *Config) { cfg.State, cfg.Settings = state, settings }), disk
}

func (e *edge) endAndClose(t *testing.T) {
	t.Helper()
	e.end(t)
	if err := e.cfg.State.Close(); err != nil {
		t.Error(err)
	}
}

func TestARestartTakesUpWhereItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		e, _ := restarted(t, c, dir)
		e.run(t)
		e.at(t, 0, 1, 5)
		e.push(append(c.write(0, 3), c.write(feed.ConfigShard, 1)...)...)
		e.at(t, 0, 1, 8)
		e.endAndClose(t)

		made := c.write(0, 4)
		c.set(func(c *center) { c.down = errDown })
		e, _ = restarted(t, c, dir)
		if got := e.Settings(); got == nil || got.Seq != 3 {
			t.Errorf("config: got %+v, want position 3", got)
		}
		e.run(t)
		e.at(t, 0, 1, 8)
		e.unleased(t, 0)
		e.Adopt(t.Context(), 9) // it has an epoch
		e.push(made[0])
		e.at(t, 0, 1, 9)
		c.set(func(c *center) { c.down = nil })
		time.Sleep(probeEvery + 3*gapPatience)
		e.at(t, 0, 1, 12)
		e.leased(t, 0, c.last())
		if got := e.Stats().CaughtUp; got != 3 {
			t.Errorf("caught up: got %d, want 3", got)
		}
		c.mu.Lock()
		if p := c.probes[len(c.probes)-2]; p.Epoch != 1 || p.Applied[0] == 0 {
			t.Errorf("probe: got epoch %d, position %d", p.Epoch, p.Applied[0])
		}
		c.mu.Unlock()
		e.endAndClose(t)
	})
}

func TestARestartInANewEpochBeginsAtItsHeads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		e, _ := restarted(t, c, dir)
		e.run(t)
		e.at(t, 0, 1, 5)
		e.endAndClose(t)
		c.set(func(c *center) { c.epoch, c.log = 2, [feed.AllShards][]*feed.Change{} })
		c.write(0, 2)
		e, _ = restarted(t, c, dir)
		e.run(t)
		e.at(t, 0, 2, 2)
		e.at(t, feed.ConfigShard, 2, 0)
		e.endAndClose(t)
	})
}

func TestPositionsAreSavedWhenTheyMoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		e, disk := restarted(t, c, dir)
		e.run(t)
		time.Sleep(4*saveEvery + time.Second)
		synctest.Wait()
		if got := disk.saves.Load(); got != 1 {
			t.Errorf("at rest: got %d saves, want 1", got)
		}
		e.push(c.write(0, 1)...)
		time.Sleep(saveEvery)
		synctest.Wait()
		if got := disk.saves.Load(); got != 2 {
			t.Errorf("after a change: got %d saves, want 2", got)
		}
		e.push(c.write(0, 1)...)
		e.at(t, 0, 1, 7)
		e.endAndClose(t)
		if got := disk.saves.Load(); got != 3 {
			t.Errorf("after the stop: got %d saves, want 3", got)
		}
	})
}

// Writing and syncing may take long, and it would be done twice.
func TestASaveIsLeftToTheLastOneOnceItsContextHasEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		e, disk := restarted(t, c, dir)
		keep := newKeeper(e.Follower)
		e.run(t)
		e.at(t, 0, 1, 5)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if keep.save(ended); disk.saves.Load() != 0 {
			t.Errorf("got %d saves, want none", disk.saves.Load())
		}
		if keep.save(t.Context()); disk.saves.Load() != 1 {
			t.Errorf("by the last one: got %d saves, want 1", disk.saves.Load())
		}
		e.endAndClose(t)
	})
}

func TestADiskThatFailsIsReportedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		e, disk := restarted(t, c, dir)
		disk.fail.Store(true)
		e.run(t)
		time.Sleep(3*saveEvery + time.Second)
		synctest.Wait()
		disk.fail.Store(false)
		time.Sleep(saveEvery)
		synctest.Wait()
		logged := e.logged.String()
		if strings.Count(logged, "cannot be saved") != 1 || strings.Count(logged, "saved again") != 1 {
			t.Errorf("got %q, want the fault and its end, once each", logged)
		}
		if got := e.Stats().StateFaults; got != 3 {
			t.Errorf("got %d faults, want 3", got)
		}
		e.endAndClose(t)
	})
}

func TestAnAdoptedEpochIsNotSaved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		c.down = errDown
		e, disk := restarted(t, c, dir)
		e.run(t)
		synctest.Wait()
		e.Adopt(t.Context(), 1)
		time.Sleep(2 * saveEvery)
		e.endAndClose(t)
		if got := disk.saves.Load(); got != 0 {
			t.Errorf("got %d saves, want none", got)
		}
	})
}

func TestASavedConfigIsNeverBehindItsPosition(t *testing.T) {
	t.Parallel()
	table := tableAt(1, 3)
	cfg := &feed.Config{Epoch: 1, Seq: 3}
	saved, err := feed.ParseSaved(table.Append(nil, func() *feed.Config {
		// A change that comes when the table has been read.
		c := &feed.Change{Epoch: 1, Shard: feed.ConfigShard, Seq: 4, Kind: feed.Changed}
		next := cfg.With(c)
		table.Apply(c)
		return next
	}, func() {}), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, applied, _ := saved.Restore().Position(feed.ConfigShard); applied > saved.Config.Seq {
		t.Errorf("got position %d with the config of %d", applied, saved.Config.Seq)
	}
}
