package redirect

import (
	"context"
	"errors"
	"testing"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// limited is the entry of one use that was taken.
func limited(asOf, version uint64) *feed.Entry {
	e := *live(asOf, version)
	e.Limited = true
	return &e
}

// answers makes the origin answer uses.
func (w *world) answers(verdict feed.Verdict, e *feed.Entry) (calls *int) {
	calls = new(int)
	w.use = func(context.Context, link.Key) (*feed.Use, error) {
		*calls++
		return &feed.Use{Verdict: verdict, Entry: e}, nil
	}
	return calls
}

func TestAUseIsTheOriginsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.l1.Store(key.Hash(), live(10, 5))
	w.l1.Wait()
	calls := w.answers(feed.UseTaken, limited(10, 5))
	for range 3 {
		asked := feed.Instant(w.now.Load())
		verdict, a, err := w.Use(t.Context(), key, key.Hash())
		if err != nil || verdict != feed.UseTaken || a.Entry.Target == "" {
			t.Fatalf("got %v, %+v, %v", verdict, a, err)
		}
		if a.Tier != Origin || a.Lease != asked {
			t.Errorf("got tier %v and lease %d, want the origin's and %d", a.Tier, a.Lease, asked)
		}
		w.pass(time.Millisecond)
	}
	if *calls != 3 {
		t.Errorf("asked %d times for three uses", *calls)
	}
	if w.region.lookups != 0 || len(w.region.stored) != 0 {
		t.Errorf("got %d lookups and %d stores in L2, want none", w.region.lookups, len(w.region.stored))
	}
	w.l1.Wait()
	if e := w.l1.Entry(key.Domain, []byte(key.Code), key.Hash()); e == nil || e.Limited {
		t.Errorf("L1 holds %+v, want what it held before", e)
	}
}

func TestAUseLeavesNoWayBackInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.l1.Store(key.Hash(), live(10, 5)) // as it was before it was limited
	w.l1.Wait()
	w.answers(feed.UseTaken, limited(12, 12))
	if _, _, err := w.Use(t.Context(), key, key.Hash()); err != nil {
		t.Fatal(err)
	}
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return limited(12, 12), nil }
	w.must(t, Origin, 12)
}

func TestAUseAskedForWithoutALeaseIsAsFreshAsItsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.answers(feed.UseTaken, limited(10, 5))
	w.pass(time.Minute)
	_, a, err := w.Use(t.Context(), key, key.Hash())
	if err != nil {
		t.Fatal(err)
	}
	if how, _ := w.Mark(a, a.Lease+feed.Instant(bound)); how != Unmarked {
		t.Errorf("within the bound: got %v, want unmarked", how)
	}
	if how, age := w.Mark(a, a.Lease+feed.Instant(bound)+1); how != Marked || age <= bound {
		t.Errorf("beyond the bound: got %v, %v, want marked", how, age)
	}
}

func TestAUseFromBehindWhatIsKnownIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	for name, e := range map[string]*feed.Entry{
		"an older position": limited(9, 5),
		"an older epoch":    func() *feed.Entry { e := limited(20, 5); e.Epoch = 0; return e }(),
		"a newer epoch":     func() *feed.Entry { e := limited(20, 5); e.Epoch = 2; return e }(),
	} {
		w.answers(feed.UseTaken, e)
		if _, a, err := w.Use(t.Context(), key, key.Hash()); !errors.Is(err, link.ErrUnavailable) || a.Entry != nil {
			t.Errorf("%s: got %+v, %v, want ErrUnavailable", name, a, err)
		}
	}
	if got := w.newer.Load(); got != 1 {
		t.Errorf("told of a newer epoch %d times, want once", got)
	}
}

func TestUsesAndFillsShareOneBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.pass(time.Minute) // without a lease a visitor waits a second at most
	calls := w.answers(feed.UseTaken, limited(10, 5))
	for range cap(w.fills.places) {
		w.fills.places <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.Use(ctx, key, key.Hash()); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
	for range cap(w.fills.places) {
		<-w.fills.places
	}
	if _, _, err := w.Use(t.Context(), key, key.Hash()); err != nil {
		t.Errorf("got error %v", err)
	}
	if *calls != 1 || len(w.fills.places) != 0 {
		t.Errorf("got %d uses and %d places taken, want one and none", *calls, len(w.fills.places))
	}
}

func TestUsesLeaveRoomForFills(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.pass(time.Minute) // as above
	calls := w.answers(feed.UseTaken, limited(10, 5))
	for range cap(w.uses) {
		w.uses <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // a place that is free would be taken by every second one
		if _, _, err := w.Use(ctx, key, key.Hash()); !errors.Is(err, link.ErrUnavailable) || *calls != 0 {
			t.Fatalf("got %v after %d calls, want ErrUnavailable and none", err, *calls)
		}
	}
	if len(w.fills.places) != 0 {
		t.Errorf("%d places for fills are taken, want none", len(w.fills.places))
	}
}

func TestAUseThatFailsIsAskedForOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	calls := 0
	w.use = func(context.Context, link.Key) (*feed.Use, error) {
		calls++
		return nil, link.ErrUnavailable
	}
	if _, _, err := w.Use(t.Context(), key, key.Hash()); !errors.Is(err, link.ErrUnavailable) || calls != 1 {
		t.Errorf("got %v after %d calls, want ErrUnavailable after one", err, calls)
	}
}
