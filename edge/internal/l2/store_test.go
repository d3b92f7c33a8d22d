package l2

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/feed"
)

// version is an entry of key 1 at a position, told apart by its target.
func version(epoch, asof uint64) *feed.Entry {
	e := &feed.Entry{Epoch: epoch, AsOf: asof, Version: asof, Key: keyOf(1), Body: live()}
	e.LinkID = epoch<<32 | asof
	return e
}

func TestAnOlderValueNeverReplacesANewer(t *testing.T) {
	t.Parallel()
	const epochs, positions = 3, 200
	client := connect(t, services.Redis(t).Addr())
	o := newOrigin()
	a, b := newEdge(o, config(client, o)), newEdge(o, config(client, o))
	a.run(t)
	b.run(t)

	var entries []*feed.Entry
	for epoch := range uint64(epochs) {
		for asof := range uint64(positions) {
			entries = append(entries, version(epoch+1, asof+1))
		}
	}
	var writers sync.WaitGroup
	for _, e := range []*edge{a, b} {
		shuffled := append([]*feed.Entry(nil), entries...)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		writers.Go(func() {
			for _, entry := range shuffled {
				e.Store(entry)
			}
		})
	}
	var last *feed.Entry
	eventually(t, "both have stored everything", func() bool {
		got := a.find(t, keyOf(1)).Entry
		if last != nil && (got == nil || last.Newer(got)) {
			t.Fatalf("value went back: got %+v after %+v", got, last)
		}
		last = got
		return a.Stats().Stores == uint64(len(entries)) && b.Stats().Stores == uint64(len(entries))
	})
	writers.Wait()
	want := version(epochs, positions)
	if got := a.find(t, keyOf(1)).Entry; got == nil || *got != *want {
		t.Errorf("value in the end: got %+v, want %+v", got, want)
	}
}

func TestStoreDecidesByTheBytesThatAreThere(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	c := New(config(client, newOrigin()))
	stored := version(2, 100)
	good := func(epoch, asof uint64) string { return string(version(epoch, asof).Append(nil)) }
	name := c.keys[feed.Shard(keyOf(1).Hash())].value(keyOf(1))
	for _, tc := range []struct {
		name     string
		old      string
		ttl      time.Duration
		wantKept bool
	}{
		{"older position", good(2, 99), time.Hour, false},
		{"newer position", good(2, 101), time.Hour, true},
		{"older epoch, newer position", good(1, 101), time.Hour, false},
		{"newer epoch, older position", good(3, 1), time.Hour, true},
		{"positions whose order depends on the high half", good(2, 1<<40), time.Hour, true},
		{"same position, damaged behind the head", good(2, 100)[:40], time.Hour, false},
		{"newer format", "\x02" + good(1, 1)[1:], time.Hour, true},
		{"newer format that never expires", "\x02" + good(1, 1)[1:], 0, false},
		{"older format", "\x00" + good(9, 9)[1:], time.Hour, false},
		{"impossible epoch", good(1<<60, 1), time.Hour, false},
		{"impossible position", good(2, 1<<60), time.Hour, false},
		{"short", "\x01\xff", time.Hour, false},
		{"empty", "", time.Hour, false},
	} {
		if err := client.Set(t.Context(), name, tc.old, tc.ttl).Err(); err != nil {
			t.Fatal(err)
		}
		if err := c.run(within(t), []*call{c.put(stored)}); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		want := string(stored.Append(nil))
		if tc.wantKept {
			want = tc.old
		}
		if got := client.Get(t.Context(), name).Val(); got != want {
			t.Errorf("%s: got %q, want %q", tc.name, got, want)
		}
	}
}

func TestStoreReplacesAnotherType(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	c := New(config(client, newOrigin()))
	one := c.put(version(1, 1))
	if err := client.LPush(t.Context(), one.key, "x").Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.run(within(t), []*call{one}); err != nil || one.cmd.Err() != nil {
		t.Fatalf("store: %v, %v", err, one.cmd.Err())
	}
	if got, want := client.Get(t.Context(), one.key).Val(), string(version(1, 1).Append(nil)); got != want {
		t.Errorf("value: got %q, want %q", got, want)
	}
}

func TestValuesExpire(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	cfg := config(client, newOrigin())
	cfg.TTL, cfg.AbsentTTL = 10*time.Hour, 10*time.Minute
	c := New(cfg)
	tombstone := &feed.Entry{Epoch: 1, AsOf: 9, Version: 9, Key: keyOf(2)}
	never := &feed.Entry{Epoch: 1, AsOf: 9, Key: keyOf(3)}
	for _, tc := range []struct {
		name string
		e    *feed.Entry
		ttl  time.Duration
	}{
		{"link", version(1, 1), cfg.TTL},
		{"tombstone", tombstone, cfg.TTL},
		{"never a row", never, cfg.AbsentTTL},
	} {
		one := c.put(tc.e)
		if err := c.run(within(t), []*call{one}); err != nil {
			t.Fatal(err)
		}
		got := client.PTTL(t.Context(), one.key).Val()
		if got <= tc.ttl*9/10 || got > tc.ttl*11/10 {
			t.Errorf("%s: TTL: got %v, want about %v and at most 10 %% more", tc.name, got, tc.ttl)
		}
	}
}

func TestARefreshNeverMakesAValue(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	c := New(config(client, newOrigin()))
	refresh := c.refresh(version(1, 5))
	for range 2 { // the second time Redis knows the script
		if err := c.run(within(t), []*call{refresh}); err != nil {
			t.Fatal(err)
		}
		if got := client.Exists(t.Context(), refresh.key).Val(); got != 0 {
			t.Fatal("refresh of no value: got one, want none")
		}
	}
	for _, one := range []*call{c.put(version(1, 4)), refresh} {
		if err := c.run(within(t), []*call{one}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := client.Get(t.Context(), refresh.key).Val(), string(version(1, 5).Append(nil)); got != want {
		t.Errorf("refresh of an older value: got %q, want %q", got, want)
	}
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	t.Parallel()
	c := New(Config{Shape: small(), Table: feed.NewTable(64, 1)})
	for range maxStores + 3 {
		c.Store(version(1, 1)) // nothing runs
	}
	if got := c.Stats().Dropped; got != 3 {
		t.Errorf("dropped: got %d, want 3", got)
	}
}

func TestScriptsComeBackAfterTheyWereForgotten(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	c := New(config(client, newOrigin()))
	for asof := range uint64(3) {
		calls := []*call{c.put(version(1, asof+1)), c.put(&feed.Entry{Epoch: 1, AsOf: asof + 1, Key: keyOf(2)})}
		if err := c.run(within(t), calls); err != nil {
			t.Fatal(err)
		}
		for _, one := range calls {
			if got, err := one.cmd.Int(); err != nil || got != 1 {
				t.Errorf("round %d: got %d, %v, want 1", asof, got, err)
			}
		}
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
