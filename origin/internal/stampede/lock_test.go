package stampede

import (
	"context"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestOneReadServesAllLoadsOfTwoOrigins(t *testing.T) {
	t.Parallel()
	const each = 250
	for _, tc := range []struct {
		name           string
		noSingleflight bool
		state          feed.State
	}{
		{"singleflight and lock", false, feed.Enabled},
		{"the lock alone", true, feed.Enabled},
		{"a link that does not exist", true, feed.Absent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := services.Redis(t)
			src := &source{epoch: 1, asof: 9, state: tc.state, hold: make(chan struct{})}
			key := link.Key{Domain: "go.example", Code: "cold"}
			origins := make([]*Loader, 2)
			for i := range origins {
				cfg := patient(connect(t, r))
				cfg.NoSingleflight = tc.noSingleflight
				origins[i] = newLoader(t, cfg, src.load)
			}

			var all sync.WaitGroup
			for _, l := range origins {
				for range each {
					all.Go(func() { mustLoad(t, l, want{key: key, epoch: 1, minSeq: 9}, src.entry(key)) })
				}
			}
			eventually(t, "all loads wait", func() bool { return waiting(origins[0])+waiting(origins[1]) == 2*each })
			close(src.hold)
			all.Wait()

			if got := src.count(key); got != 1 {
				t.Errorf("reads of PostgreSQL = %d, want 1", got)
			}
			if got := origins[0].Stats().Shared + origins[1].Stats().Shared; got == 0 {
				t.Error("no load was answered by the other origin's result")
			}
		})
	}
}

func TestAResultIsUsedOnlyIfItsPositionWillDo(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	for _, tc := range []struct {
		name                string
		haveEpoch, haveAsOf uint64
		epoch, minSeq       uint64
		wantShared          uint64
	}{
		{"newer position", 1, 6, 1, 5, 1},
		{"same position", 1, 5, 1, 5, 1},
		{"older position", 1, 4, 1, 5, 0},
		{"older by the last byte only", 1, 0x1ff, 1, 0x200, 0},
		{"newer by a high byte, lower bytes smaller", 1, 0x200, 1, 0x1ff, 1},
		{"beyond the sign bit", 1, 1 << 63, 1, 1<<63 - 1, 1},
		{"newer epoch, lower position", 2, 1, 1, 5, 1},
		{"older epoch, higher position", 1, 9, 2, 5, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			key := link.Key{Code: tc.name}
			first := &source{epoch: tc.haveEpoch, asof: tc.haveAsOf, state: feed.Enabled}
			mustLoad(t, newLoader(t, patient(client), first.load), want{key: key}, first.entry(key))

			second := &source{epoch: tc.epoch, asof: max(tc.minSeq, 1), state: feed.Disabled}
			loser := newLoader(t, patient(client), second.load)
			expect := second.entry(key)
			if tc.wantShared == 1 {
				expect = first.entry(key)
			}
			mustLoad(t, loser, want{key: key, epoch: tc.epoch, minSeq: tc.minSeq}, expect)
			if got := loser.Stats().Shared; got != tc.wantShared {
				t.Errorf("Shared = %d, want %d", got, tc.wantShared)
			}
			if got := loser.Stats().WaitedOut; got != 0 {
				t.Errorf("WaitedOut = %d, want 0: the lock was free", got)
			}
		})
	}
}

// A killed holder never frees its lock: here its connection is cut during the
// load and the lock lasts longer than the test.
func TestALockWhoseHolderDiedDelaysOthersByTheirWaitOnly(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	key := link.Key{Code: "k"}
	holderClient := connect(t, r)
	dead := &source{epoch: 1, asof: 3, state: feed.Enabled, began: make(chan link.Key), hold: make(chan struct{})}
	holder := newLoader(t, patient(holderClient), dead.load)
	var holding sync.WaitGroup
	holding.Go(func() { mustLoad(t, holder, want{key: key, epoch: 1}, dead.entry(key)) })
	<-dead.began
	if err := holderClient.Close(); err != nil {
		t.Fatal(err)
	}

	src := &source{epoch: 1, asof: 4, state: feed.Enabled}
	observer := connect(t, r)
	var all sync.WaitGroup
	for range 2 {
		cfg := patient(connect(t, r))
		cfg.Wait = 50 * time.Millisecond
		l := newLoader(t, cfg, src.load)
		for range 100 {
			all.Go(func() { mustLoad(t, l, want{key: key, epoch: 1, minSeq: 4}, src.entry(key)) })
		}
	}
	all.Wait()
	if got := src.count(key); got == 0 || got > 2 {
		t.Errorf("reads of PostgreSQL = %d, want 1 or 2: one an origin at most", got)
	}

	// Whoever waited in vain left a result, so that the next need not wait.
	late := newLoader(t, patient(observer), src.load)
	mustLoad(t, late, want{key: key, epoch: 1, minSeq: 4}, src.entry(key))
	if got := late.Stats().Shared; got != 1 {
		t.Errorf("Shared = %d, want 1", got)
	}
	close(dead.hold)
	holding.Wait()
	if n, err := observer.Exists(t.Context(), late.lock.keys(key)[0]).Result(); err != nil || n != 1 {
		t.Errorf("EXISTS lock = %d, %v, want 1: the dead holder's lock was never freed", n, err)
	}
}

func TestAHolderThatOversleptItsLockDoesNoHarm(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	key := link.Key{Code: "k"}
	client := connect(t, r)

	cfg := patient(client)
	cfg.LockTTL = 20 * time.Millisecond
	asleep := &source{epoch: 1, asof: 3, state: feed.Enabled, began: make(chan link.Key), hold: make(chan struct{})}
	first := newLoader(t, cfg, asleep.load)
	var firstLoad, others sync.WaitGroup
	firstLoad.Go(func() { mustLoad(t, first, want{key: key, epoch: 1}, asleep.entry(key)) })
	<-asleep.began

	awake := &source{epoch: 1, asof: 8, state: feed.Disabled, began: make(chan link.Key), hold: make(chan struct{})}
	second := newLoader(t, patient(client), awake.load)
	others.Go(func() { mustLoad(t, second, want{key: key, epoch: 1, minSeq: 8}, awake.entry(key)) })
	<-awake.began // the lock expired and fell to the second

	close(asleep.hold)
	firstLoad.Wait()
	first.Close() // the result is left
	if n, err := client.Exists(t.Context(), first.lock.keys(key)[0]).Result(); err != nil || n != 1 {
		t.Errorf("EXISTS lock = %d, %v, want 1: a late release freed another holder's lock", n, err)
	}
	third := newLoader(t, patient(client), awake.load)
	others.Go(func() { mustLoad(t, third, want{key: key, epoch: 1, minSeq: 8}, awake.entry(key)) })
	eventually(t, "the third waits", func() bool { return waiting(third) == 1 })
	close(awake.hold)
	others.Wait()
	if got := awake.count(key); got != 1 {
		t.Errorf("reads after the lock expired = %d, want 1", got)
	}
	if got := third.Stats().Shared; got != 1 {
		t.Errorf("Shared = %d, want 1", got)
	}
}

func TestAnOlderResultDoesNotReplaceANewerOne(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	k := newLock(patient(client).withDefaults())
	key := link.Key{Code: "k"}
	for _, tc := range []struct {
		epoch, asof         uint64
		wantEpoch, wantAsOf uint64
	}{
		{1, 9, 1, 9},
		{1, 5, 1, 9},
		{2, 1, 2, 1},
		{1, 99, 2, 1},
	} {
		k.leave(t.Context(), key, "nobody", (&source{epoch: tc.epoch, asof: tc.asof}).entry(key))
		b, err := client.Get(t.Context(), k.keys(key)[1]).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		got, err := feed.ParseEntry(b)
		if err != nil {
			t.Fatal(err)
		}
		if got.Epoch != tc.wantEpoch || got.AsOf != tc.wantAsOf {
			t.Errorf("after leaving (%d, %d) the result is (%d, %d), want (%d, %d)",
				tc.epoch, tc.asof, got.Epoch, got.AsOf, tc.wantEpoch, tc.wantAsOf)
		}
	}
}

func TestADamagedResultIsAMiss(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	key, other := link.Key{Code: "k"}, link.Key{Code: "other"}
	good := (&source{epoch: 1, asof: 9}).entry(key).Append(nil)
	unknown := append([]byte{good[0] + 1}, good[1:]...)
	for name, result := range map[string][]byte{
		"empty":          {},
		"cut short":      good[:17],
		"shorter still":  good[:5],
		"another format": unknown,
		"another link's": (&source{epoch: 1, asof: 9}).entry(other).Append(nil),
	} {
		src := &source{epoch: 1, asof: 9, state: feed.Enabled}
		cfg := patient(client)
		cfg.OnRedis = func(err error) { t.Errorf("%s: OnRedis(%v), want no call", name, err) }
		l := newLoader(t, cfg, src.load)
		if err := client.Set(t.Context(), l.lock.keys(key)[1], result, long).Err(); err != nil {
			t.Fatal(err)
		}
		mustLoad(t, l, want{key: key, epoch: 1, minSeq: 2}, src.entry(key))
		if got := src.count(key); got != 1 {
			t.Errorf("%s: reads of PostgreSQL = %d, want 1", name, got)
		}
		l.Close() // the result is left
	}
}

// In both cases one of the two is waited for.
func TestALoadCostsTwoRoundTripsAndASharedOneToo(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	p := services.NewProxy(t, r.Addr())
	client, err := Connect("redis://" + p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	src := &source{epoch: 1, asof: 9, state: feed.Enabled}
	load := func(code string) int64 {
		key := link.Key{Code: code}
		before := p.RoundTrips()
		l := newLoader(t, patient(client), src.load)
		mustLoad(t, l, want{key: key, epoch: 1}, src.entry(key))
		l.Close() // the result is left
		return p.RoundTrips() - before
	}
	load("warm") // connection and scripts
	if got := load("k"); got != 2 {
		t.Errorf("round trips of a load = %d, want 2", got)
	}
	if got := load("k"); got != 2 {
		t.Errorf("round trips of a shared load = %d, want 2", got)
	}
}

func TestASharedResultLeavesTheLockFreeAndItselfAsItWas(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	src := &source{epoch: 1, asof: 9, state: feed.Enabled}
	w := want{key: link.Key{Code: "k"}, epoch: 1}
	first := newLoader(t, patient(client), src.load)
	mustLoad(t, first, w, src.entry(w.key))
	first.Close() // the result is left
	keys := newLock(patient(client).withDefaults()).keys(w.key)
	if err := client.PExpire(t.Context(), keys[1], long/2).Err(); err != nil {
		t.Fatal(err)
	}
	other := newLoader(t, patient(client), src.load)
	mustLoad(t, other, w, src.entry(w.key))
	other.Close() // the lock is left
	if got := other.Stats(); got != (Stats{Shared: 1}) {
		t.Errorf("Stats = %+v, want 1 Shared", got)
	}
	if n, err := client.Exists(t.Context(), keys[0]).Result(); err != nil || n != 0 {
		t.Errorf("EXISTS lock = %d, %v, want 0", n, err)
	}
	if ttl, err := client.PTTL(t.Context(), keys[1]).Result(); err != nil || ttl <= 0 || ttl > long/2 {
		t.Errorf("the result lasts for %s, %v, want at most %s as before", ttl, err, long/2)
	}
}

func TestALockUnderWayIsNotTakenAndItsResultIsFound(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	k := newLock(patient(client).withDefaults())
	w := want{key: link.Key{Code: "k"}, epoch: 1, minSeq: 9}
	try := func(token string, expect outcome, locked bool) {
		t.Helper()
		if got, err := k.try(t.Context(), w, token); err != nil || got.outcome != expect || got.locked != locked {
			t.Errorf("%s: got %+v, %v, want outcome %d, locked %v", token, got, err, expect, locked)
		}
	}
	try("holder", held, true)
	try("other", busy, false)
	k.leave(t.Context(), w.key, "nobody", (&source{epoch: 1, asof: 8}).entry(w.key))
	try("other", busy, false) // it is too old
	k.leave(t.Context(), w.key, "nobody", (&source{epoch: 1, asof: 9}).entry(w.key))
	try("other", shared, false)
	k.leave(t.Context(), w.key, "holder", nil)
	try("other", shared, true)
	k.leave(t.Context(), w.key, "other", nil)
	if n, err := client.Exists(t.Context(), k.keys(w.key)[0]).Result(); err != nil || n != 0 {
		t.Errorf("EXISTS lock = %d, %v, want 0", n, err)
	}
}

func TestNobodyWaitsForAResultToBeLeft(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	src := &source{epoch: 1, asof: 9, state: feed.Enabled, began: make(chan link.Key), hold: make(chan struct{})}
	l := newLoader(t, patient(connect(t, r)), src.load)
	w := want{key: link.Key{Code: "k"}, epoch: 1, minSeq: 9}
	var first sync.WaitGroup
	first.Go(func() { mustLoad(t, l, w, src.entry(w.key)) })
	<-src.began
	r.Pause()
	t.Cleanup(r.Resume)
	close(src.hold)
	first.Wait()
	// The lock is still there; who comes now gets the result all the same.
	mustLoad(t, l, w, src.entry(w.key))
	if got, expect := l.Stats(), (Stats{Loaded: 1, Joined: 1}); got != expect {
		t.Errorf("Stats = %+v, want %+v", got, expect)
	}
	r.Resume()
	l.Close()
	other := newLoader(t, patient(connect(t, r)), src.load)
	mustLoad(t, other, w, src.entry(w.key))
	if got, expect := other.Stats(), (Stats{Shared: 1}); got != expect {
		t.Errorf("Stats of another origin = %+v, want %+v", got, expect)
	}
}

func TestLockAndResultShareTheShardsHashTag(t *testing.T) {
	t.Parallel()
	k := newLock(Config{Prefix: "wp"}.withDefaults())
	got := k.keys(link.Key{Domain: "go.example", Code: "{x}"})
	expect := []string{"wp:{s28}:lock:go.example\x00{x}", "wp:{s28}:res:go.example\x00{x}"}
	if len(got) != 2 || got[0] != expect[0] || got[1] != expect[1] {
		t.Errorf("keys = %q, want %q", got, expect)
	}
}

func TestALoadThatFailsFreesTheLock(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	key := link.Key{Code: "k"}
	for name, load := range map[string]func(context.Context, link.Key) (*feed.Entry, error){
		"error":  func(context.Context, link.Key) (*feed.Entry, error) { return nil, link.ErrUnavailable },
		"panic":  func(context.Context, link.Key) (*feed.Entry, error) { panic("boom") },
		"no one": func(context.Context, link.Key) (*feed.Entry, error) { return nil, nil }, //nolint:nilnil // the fault under test
	} {
		l := newLoader(t, patient(client), load)
		if e, err := l.Load(t.Context(), key, 1, 0); err == nil {
			t.Errorf("%s: Load = %+v, want an error", name, e)
		}
		if n, err := client.Exists(t.Context(), l.lock.keys(key)...).Result(); err != nil || n != 0 {
			t.Errorf("%s: EXISTS lock, result = %d, %v, want 0", name, n, err)
		}
	}
}

func TestALockIsFreedEvenWhenTheLoadUsedUpItsTime(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	k := newLock(patient(client).withDefaults())
	key := link.Key{Code: "k"}
	if got := k.await(t.Context(), want{key: key}, "token"); got.outcome != held {
		t.Fatalf("outcome = %d, want %d", got.outcome, held)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	k.leave(late, key, "token", nil)
	if n, err := client.Exists(t.Context(), k.keys(key)...).Result(); err != nil || n != 0 {
		t.Errorf("EXISTS lock, result = %d, %v, want 0", n, err)
	}
}
