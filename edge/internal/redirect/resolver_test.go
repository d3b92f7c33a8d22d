package redirect

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/edge/internal/l1"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var key = link.Key{Code: "abc"}

// region is a second tier that a test fills by hand.
type region struct {
	mu            sync.Mutex
	value, absent *feed.Entry
	lookups       int
	stored        []*feed.Entry
}

func (r *region) Lookup(context.Context, link.Key, uint64) (value, absent *feed.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookups++
	return r.value, r.absent
}

func (r *region) Store(e *feed.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored = append(r.stored, e)
}

// world is a resolver with all its parts in a test's hands.
type world struct {
	*Resolver
	table  *feed.Table
	l1     *l1.Cache
	region *region
	loads  atomic.Int64
	load   func(ctx context.Context, epoch, minSeq uint64) (*feed.Entry, error)
	newer  atomic.Int64
	now    atomic.Int64 // the clock
	since  feed.Instant // the cap counts from it without a lease
	epochs []uint64     // handed over to be adopted
	// onAdopt is what becomes of them.
	onAdopt func(epoch uint64)
}

const (
	bound = time.Second
	boot  = feed.Instant(time.Hour) // when a world begins, with a lease of that moment
)

func newWorld(tb testing.TB, head uint64) *world {
	tb.Helper()
	cache, err := l1.New(1 << 20)
	if err != nil {
		tb.Fatal(err)
	}
	w := &world{table: feed.NewTable(1024, 7), l1: cache, region: &region{}}
	w.now.Store(int64(boot))
	w.onAdopt = func(epoch uint64) { w.epochs = append(w.epochs, epoch) }
	w.table.Reset(feed.Shard(key.Hash()), 1, head)
	w.table.Reset(feed.ConfigShard, 1, 0)
	w.lease(head)
	w.Resolver = New(Config{
		Table: w.table, L1: cache, L2: w.region, MaxFills: 4, Timeout: 5 * time.Second,
		Clock: func() feed.Instant { return feed.Instant(w.now.Load()) },
		Bound: func() time.Duration { return bound }, Cap: time.Hour,
		Since: func() feed.Instant { return w.since },
		Adopt: func(_ context.Context, epoch uint64) { w.onAdopt(epoch) },
		Load: func(ctx context.Context, _ link.Key, epoch, minSeq uint64) (*feed.Entry, error) {
			w.loads.Add(1)
			return w.load(ctx, epoch, minSeq)
		},
		NewerEpoch: func() { w.newer.Add(1) },
	})
	tb.Cleanup(func() {
		w.Wait()
		cache.Close()
	})
	return w
}

// lease is a probe that shows head, answered now.
func (w *world) lease(head uint64) {
	at := feed.Instant(w.now.Load())
	w.table.Answer(feed.Shard(key.Hash()), 1, at, head)
	w.table.Answer(feed.ConfigShard, 1, at, 0)
}

func (w *world) pass(d time.Duration) { w.now.Add(int64(d)) }

func (w *world) resolve(tb testing.TB) (Answer, error) {
	tb.Helper()
	return w.Resolve(tb.Context(), key.Domain, []byte(key.Code), key.Hash())
}

func (w *world) must(t *testing.T, tier Tier, version uint64) Answer {
	t.Helper()
	a, err := w.resolve(t)
	if err != nil {
		t.Fatal(err)
	}
	if a.Tier != tier || a.Entry.Version != version {
		t.Fatalf("got version %d from tier %d, want version %d from tier %d", a.Entry.Version, a.Tier, version, tier)
	}
	return a
}

func (w *world) apply(seq uint64, kind feed.Kind) *feed.Change {
	c := &feed.Change{Epoch: 1, Shard: feed.Shard(key.Hash()), Seq: seq, Kind: kind, Key: key}
	w.table.Apply(c)
	return c
}

func live(asof, version uint64) *feed.Entry {
	return &feed.Entry{Epoch: 1, AsOf: asof, Version: version, Key: key, Body: feed.Body{
		State: feed.Enabled, Status: 302, Target: "https://example.com/",
	}}
}

func TestTiersAreAskedInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return live(10, 5), nil }
	w.must(t, Origin, 5)
	if len(w.region.stored) != 1 {
		t.Errorf("l2 stores after a fill: got %d, want 1", len(w.region.stored))
	}
	w.l1.Wait()
	w.must(t, L1, 5)
	if w.region.lookups != 1 || w.loads.Load() != 1 {
		t.Errorf("after an l1 hit: %d lookups and %d loads, want 1 and 1", w.region.lookups, w.loads.Load())
	}

	w = newWorld(t, 10)
	w.region.value = live(12, 12)
	w.must(t, L2, 12)
	w.l1.Wait()
	w.must(t, L1, 12)
}

func TestAHeldEntryIsRefusedAfterItsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.region.value = live(10, 5)
	w.must(t, L2, 5)
	w.l1.Wait()
	w.apply(11, feed.Changed)
	w.load = func(_ context.Context, _, minSeq uint64) (*feed.Entry, error) {
		if minSeq != 11 {
			t.Errorf("min_seq: got %d, want 11", minSeq)
		}
		return live(11, 11), nil
	}
	if a := w.must(t, Origin, 11); !a.Refused {
		t.Error("the answer does not say that held entries were refused")
	}
}

func TestAPushedChangeReplacesWhatIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.region.value = live(10, 5)
	w.must(t, L2, 5)
	w.l1.Wait()
	w.apply(11, feed.Changed)
	w.Applied(live(11, 11))
	w.must(t, L1, 11)
}

func TestNoAnswerIsOlderThanOneBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return live(30, 25), nil }
	w.must(t, Origin, 25)
	// The tiers forget and resurrect: the older value must not come back.
	w.region.value = live(24, 24)
	w.l1.Wait()
	w.l1.Store(key.Hash(), live(40, 1)) // displaces what L1 holds …
	w.l1.Store(key.Hash(), live(41, 41))
	w.must(t, L1, 41)
	w2 := newWorld(t, 10)
	w2.load = w.load
	w2.must(t, Origin, 25)
	if view, _ := w2.table.View(key.Hash()); view.Fresh(live(24, 24)) {
		t.Error("an entry older than one served before may be served")
	}
}

func TestAFilterNoIsOverruledByALaterCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.region.absent = &feed.Entry{Epoch: 1, AsOf: 10, Key: key}
	if a := w.must(t, Filter, 0); a.Entry.State != feed.Absent {
		t.Errorf("got state %d, want absent", a.Entry.State)
	}
	w.l1.Wait()
	w.apply(11, feed.Create)
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return live(11, 11), nil }
	w.must(t, Origin, 11)
}

func TestANewerEpochOfTheFilterAsksForAProbe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.region.absent = &feed.Entry{Epoch: 2, AsOf: 10, Key: key}
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return live(10, 5), nil }
	w.must(t, Origin, 5)
	if got := w.newer.Load(); got != 1 {
		t.Errorf("got %d probes asked for, want 1", got)
	}
}

func TestAnotherKeyOfTheSameHashIsAMiss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	stranger := live(10, 5)
	stranger.Key.Code = "other"
	w.l1.Store(key.Hash(), stranger)
	w.l1.Wait()
	w.region.value = live(10, 7)
	if a := w.must(t, L2, 7); a.Refused {
		t.Error("another key's entry counts as one that was refused")
	}
}

func TestParallelMissesShareOneFill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	release := make(chan struct{})
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) {
		<-release
		return live(10, 5), nil
	}
	flights := make([]*flight, 100)
	var asked sync.WaitGroup
	for i := range flights {
		asked.Go(func() { flights[i] = w.fills.join(t.Context(), key, feed.Fill{Epoch: 1, MinSeq: 10}) })
	}
	asked.Wait()
	close(release)
	for i, fl := range flights {
		<-fl.done
		if fl != flights[0] || fl.err != nil || fl.entry.Version != 5 {
			t.Errorf("request %d: has a fill of its own, or got %+v, %v", i, fl.entry, fl.err)
		}
	}
	if got := w.loads.Load(); got != 1 {
		t.Errorf("loads: got %d, want 1", got)
	}
}

func TestARequestDoesNotJoinAFillFromBeforeAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	release := make(chan struct{})
	var mins [2]atomic.Uint64
	w.load = func(_ context.Context, _, minSeq uint64) (*feed.Entry, error) {
		n := w.loads.Load()
		mins[n-1].Store(minSeq)
		if n == 1 {
			<-release
			return live(10, 5), nil
		}
		return live(11, 11), nil
	}
	first := make(chan uint64, 1)
	go func() {
		a, err := w.resolve(t)
		if err != nil {
			t.Error(err)
			first <- 0
			return
		}
		first <- a.Entry.Version
	}()
	eventually(t, func() bool { return w.loads.Load() == 1 })
	w.apply(11, feed.Changed)
	w.must(t, Origin, 11)
	if got := mins[1].Load(); got != 11 {
		t.Errorf("min_seq of the second fill: got %d, want 11", got)
	}
	close(release)
	// The first request judges by the floors it loaded before it asked.
	if got := <-first; got != 5 && got != 11 {
		t.Errorf("first request: got version %d, want 5 or 11", got)
	}
	w.Wait()
	w.l1.Wait()
	if e := w.l1.Entry(key.Domain, []byte(key.Code), key.Hash()); e != nil && e.Version == 5 {
		t.Error("a fill that the floors refute by now was stored")
	}
}

func TestAPushedChangeAnswersWaitingFills(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	release := make(chan struct{})
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) {
		<-release
		return nil, link.ErrUnavailable
	}
	got := make(chan Answer, 1)
	go func() {
		a, err := w.resolve(t)
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	eventually(t, func() bool { return w.loads.Load() == 1 })
	w.apply(11, feed.Create)
	w.Applied(live(11, 11))
	if a := <-got; a.Entry == nil || a.Entry.Version != 11 {
		t.Errorf("got %+v, want the pushed version 11", a.Entry)
	}
	close(release)
}

func TestARefusedFillIsSentOnceMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.load = func(_ context.Context, epoch, _ uint64) (*feed.Entry, error) {
		e := live(3, 3)
		e.Epoch = 2
		if epoch == 1 {
			w.table.Reset(feed.Shard(key.Hash()), 2, 3) // as the probe that NewerEpoch asks for would
		}
		return e, nil
	}
	w.must(t, Origin, 3)
	if w.loads.Load() != 2 || w.newer.Load() != 1 {
		t.Errorf("got %d loads and %d notices of the newer epoch, want 2 and 1", w.loads.Load(), w.newer.Load())
	}

	w = newWorld(t, 10)
	w.apply(11, feed.Changed)
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { return live(9, 9), nil }
	if _, err := w.resolve(t); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("refused twice: got error %v, want ErrUnavailable", err)
	}
	if got := w.loads.Load(); got != 2 {
		t.Errorf("refused twice: got %d loads, want 2", got)
	}
}

func TestFillsInFlightAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	for shard := range feed.Shards {
		w.table.Reset(shard, 1, 10)
	}
	release := make(chan struct{})
	var now, most atomic.Int64
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-release
		now.Add(-1)
		return nil, link.ErrUnavailable
	}
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			k := link.Key{Code: string(rune('a' + i))}
			if _, err := w.Resolve(t.Context(), "", []byte(k.Code), k.Hash()); !errors.Is(err, link.ErrUnavailable) {
				t.Errorf("got error %v, want ErrUnavailable", err)
			}
		})
	}
	eventually(t, func() bool { return now.Load() == 4 })
	close(release)
	all.Wait()
	if got := most.Load(); got != 4 {
		t.Errorf("fills at once: got %d, want 4", got)
	}
}

func TestAPanicInAFillIsItsError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	w.load = func(context.Context, uint64, uint64) (*feed.Entry, error) { panic("boom") }
	if _, err := w.resolve(t); err == nil || errors.Is(err, link.ErrUnavailable) {
		t.Errorf("got error %v, want one that tells of the panic", err)
	}
}

func TestAVisitorWhoLeavesDoesNotCancelTheFill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	release := make(chan struct{})
	w.load = func(ctx context.Context, _, _ uint64) (*feed.Entry, error) {
		<-release
		if ctx.Err() != nil {
			t.Error("the fill was cancelled with its first visitor")
		}
		return live(10, 5), nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := w.Resolve(ctx, "", []byte(key.Code), key.Hash())
		left <- err
	}()
	eventually(t, func() bool { return w.loads.Load() == 1 })
	stays := make(chan error, 1)
	go func() {
		_, err := w.resolve(t)
		stays <- err
	}()
	cancel()
	if err := <-left; !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("the visitor who left: got error %v, want ErrUnavailable", err)
	}
	close(release)
	if err := <-stays; err != nil {
		t.Errorf("the visitor who stayed: %v", err)
	}
}

func TestNothingIsAnsweredWithoutPositions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	for i := range 1000 {
		k := link.Key{Code: string(rune('a'+i%26)) + string(rune('a'+i/26))}
		if feed.Shard(k.Hash()) == feed.Shard(key.Hash()) {
			continue
		}
		if _, err := w.Resolve(t.Context(), "", []byte(k.Code), k.Hash()); !errors.Is(err, ErrUnready) {
			t.Errorf("got error %v, want ErrUnready", err)
		}
		return
	}
}

func BenchmarkL1Hit(b *testing.B) {
	w := newWorld(b, 10)
	w.l1.Store(key.Hash(), live(10, 5))
	w.l1.Wait()
	code, hash, ctx := []byte(key.Code), key.Hash(), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Resolve(ctx, "", code, hash); err != nil {
			b.Fatal(err)
		}
	}
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatal("condition not met in time")
		}
	}
}
