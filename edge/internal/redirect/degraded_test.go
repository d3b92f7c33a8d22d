package redirect

import (
	"context"
	"errors"
	"testing"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// away makes the origin unreachable and lets the lease lapse.
func (w *world) away(t *testing.T) {
	t.Helper()
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return nil, link.ErrUnavailable }
	w.pass(bound + time.Millisecond)
}

// goesOut resolves and marks as a request would.
func (w *world) goesOut(t *testing.T) (Marking, time.Duration, Answer, error) {
	t.Helper()
	a, err := w.resolve(t)
	if err != nil {
		return Withheld, 0, a, err
	}
	how, age := w.Mark(a, feed.Instant(w.now.Load()))
	return how, age, a, nil
}

func (w *world) wantMark(t *testing.T, want Marking, age time.Duration, version uint64) {
	t.Helper()
	how, gotAge, a, err := w.goesOut(t)
	if err != nil {
		t.Fatal(err)
	}
	if how != want || gotAge != age || a.Entry.Version != version {
		t.Fatalf("got marking %d, age %v, version %d, want %d, %v, %d", how, gotAge, a.Entry.Version, want, age, version)
	}
}

func (w *world) hold(e *feed.Entry) {
	w.l1.Store(key.Hash(), e)
	w.l1.Wait()
}

func TestALeaseLastsExactlyTheBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.hold(live(10, 5))
	w.pass(bound)
	w.wantMark(t, Unmarked, 0, 5)
	w.pass(1)
	w.wantMark(t, Marked, bound+1, 5)
	w.lease(10)
	w.wantMark(t, Unmarked, 0, 5)
}

func TestTheConfigShardsLeaseCountsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.hold(live(10, 5))
	w.pass(bound + 1)
	w.table.Answer(feed.Shard(key.Hash()), 1, feed.Instant(w.now.Load()), 10)
	w.wantMark(t, Marked, bound+1, 5)
}

func TestWithoutALeaseAStrictLinkIsWithheld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	strict := live(10, 5)
	strict.Class = link.Strict
	w.hold(strict)
	w.wantMark(t, Unmarked, 0, 5)
	w.away(t)
	if how, _, _, err := w.goesOut(t); err != nil || how != Withheld {
		t.Errorf("got marking %d, error %v, want it withheld", how, err)
	}
}

func TestWithoutALeaseNoAbsentEntryIsServed(t *testing.T) {
	t.Parallel()
	tombstone := &feed.Entry{Epoch: 1, AsOf: 10, Version: 9, Key: key}
	for name, place := range map[string]func(*world){
		"l1":                  func(w *world) { w.hold(&feed.Entry{Epoch: 1, AsOf: 10, Key: key}) },
		"l1, a tombstone":     func(w *world) { w.hold(tombstone) },
		"l2, a tombstone":     func(w *world) { w.region.value = tombstone },
		"the filter":          func(w *world) { w.region.absent = &feed.Entry{Epoch: 1, AsOf: 10, Key: key} },
		"nothing held at all": func(*world) {},
	} {
		w := newWorld(t, 10)
		place(w)
		w.away(t)
		if how, _, a, err := w.goesOut(t); how != Withheld {
			t.Errorf("%s: got marking %d of %+v, error %v, want it withheld", name, how, a.Entry, err)
		}
	}
}

func TestTheCapEndsWhatIsMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.hold(live(10, 5))
	w.away(t)
	w.pass(time.Hour - bound - time.Millisecond)
	w.wantMark(t, Marked, time.Hour, 5)
	w.pass(1)
	if how, _, _, _ := w.goesOut(t); how != Withheld {
		t.Errorf("beyond the cap: got marking %d, want it withheld", how)
	}
}

// The machine was suspended: its leases are gone, and the moment they were of is not.
func TestTheCapCountsFromTheLastLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.hold(live(10, 5))
	w.table.DropLeases()
	w.since = boot - feed.Instant(30*time.Minute)
	w.wantMark(t, Marked, 30*time.Minute, 5)
	w.since = boot - feed.Instant(time.Hour) - 1
	if how, _, _, _ := w.goesOut(t); how != Withheld {
		t.Errorf("beyond the cap: got marking %d, want it withheld", how)
	}
}

func TestWithoutALeaseWhatIsKnownToBeChangedIsServedToNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.hold(live(10, 5))
	w.region.value = live(10, 5)
	w.apply(11, feed.Changed)
	w.away(t)
	if _, err := w.resolve(t); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
}

func TestWithoutALeaseBaseIsRelaxed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.region.value = live(7, 5) // from before the boot
	w.away(t)
	w.wantMark(t, Marked, bound+time.Millisecond, 5)
	if view, _ := w.table.View(key.Hash()); view.Known(live(4, 4)) {
		t.Error("a marked answer did not raise the floor: an older one may follow")
	}
	if w.loads.Load() != 0 {
		t.Errorf("the origin was asked %d times though something is held", w.loads.Load())
	}
}

func TestAFailingFillFallsBackToWhatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.region.value = live(7, 5)
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return nil, link.ErrUnavailable }
	w.wantMark(t, Marked, 0, 5) // the lease lasts, but the value is from before the boot
}

func TestAFillThatTheFloorsOvertakeTwiceGoesOutMarkedOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return live(9, 9), nil } // an origin that lags
	w.wantMark(t, Marked, 0, 9)
}

// newLate is a world without any position.
func newLate(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, 10)
	w.table = feed.NewTable(1024, 7)
	w.Resolver.table = w.table
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return nil, link.ErrUnavailable }
	return w
}

func TestAnEdgeStartedWithoutAnOriginAdoptsTheEpochOfL2(t *testing.T) {
	t.Parallel()
	w := newLate(t)
	if _, err := w.resolve(t); !errors.Is(err, ErrUnready) || len(w.epochs) != 0 {
		t.Errorf("nothing in l2: got error %v and %d epochs, want ErrUnready and none", err, len(w.epochs))
	}
	w.region.value = live(10, 5)
	if _, err := w.resolve(t); !errors.Is(err, ErrUnready) || len(w.epochs) != 1 || w.epochs[0] != 1 {
		t.Fatalf("not adopted: got error %v and epochs %v, want ErrUnready and [1]", err, w.epochs)
	}
	w.onAdopt = w.adoptAll
	w.wantMark(t, Marked, time.Duration(boot), 5) // in the same request; the cap counts from the start
}

// Redis keeps what is of an epoch before for as long as the cap lasts.
func TestTheNewestEpochOfL2IsAdopted(t *testing.T) {
	t.Parallel()
	w := newLate(t)
	w.onAdopt = w.adoptAll
	w.adoptAll(1)
	newer := live(4, 4)
	newer.Epoch = 2
	w.region.value = newer
	w.wantMark(t, Marked, time.Duration(boot), 4)
	if w.newer.Load() == 0 {
		t.Error("no probe was asked for")
	}
	if view, _ := w.table.View(key.Hash()); view.Known(live(10, 5)) {
		t.Error("an entry of the epoch before is served still")
	}
}

func (w *world) adoptAll(epoch uint64) {
	for n := range feed.Shards {
		w.table.Adopt(n, epoch)
	}
}
