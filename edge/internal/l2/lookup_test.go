package l2

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"waypost/deploy/services"
	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestALookupIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	proxy := services.NewProxy(t, services.Redis(t).Addr())
	o := newOrigin()
	e := newEdge(o, config(connect(t, proxy.Addr()), o))
	stop := e.run(t)
	o.create(keyOf(1))
	e.Store(&feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: keyOf(1), Body: live()})
	eventually(t, "value and filters are there", func() bool {
		return e.inStepWith(t, o) && e.find(t, keyOf(1)).Entry != nil
	})
	stop()
	before := proxy.RoundTrips()
	const lookups = 50
	for i := range lookups {
		e.find(t, keyOf(i))
	}
	if got := proxy.RoundTrips() - before; got != lookups {
		t.Errorf("round trips of %d lookups: got %d, want %d", lookups, got, lookups)
	}
}

func TestALookupGivesValueAndNo(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	e := newEdge(o, config(connect(t, services.Redis(t).Addr()), o))
	known, unknownKey := keyOf(1), link.Key{Domain: "short.example", Code: "nobody"}
	r := e.find(t, known)
	if r != (Result{}) {
		t.Errorf("empty Redis: got %+v, want nothing", r)
	}
	e.run(t)
	made := o.create(known)
	want, _, err := made.Entry()
	if err != nil {
		t.Fatal(err)
	}
	e.Store(want)
	eventually(t, "the value is there", func() bool { return e.find(t, known).Entry != nil })
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })

	r = e.find(t, known)
	if r.Entry == nil || *r.Entry != *want || r.Absent != nil {
		t.Errorf("stored key: got %+v, want %+v and maybe", r.Entry, want)
	}
	r = e.find(t, unknownKey)
	_, heads := o.heads()
	wantNo := feed.Entry{Epoch: 1, AsOf: heads[feed.Shard(unknownKey.Hash())], Key: unknownKey}
	if r.Entry != nil || r.Absent == nil || *r.Absent != wantNo {
		t.Errorf("unknown key: got %+v, %+v, want no value and %+v", r.Entry, r.Absent, wantNo)
	}
}

// The filters are of the size for a million links and hold a million.
func TestAlmostAllUnknownKeysAreRefused(t *testing.T) {
	t.Parallel()
	const keys, unknowns, workers = 1_000_000, 100_000, 8
	o := population{}
	random := rand.New(rand.NewPCG(1, 2))
	for range keys {
		hash := random.Uint64()
		shard := feed.Shard(hash)
		o[shard] = append(o[shard], hash)
	}
	cfg := config(connect(t, services.Redis(t).Addr()), &o)
	cfg.Shape = bloom.ShapeOf(keys, 0.01, feed.Shards)
	for shard := range feed.Shards {
		cfg.Table.Reset(shard, 1, 1)
	}
	e := &edge{Cache: New(cfg), table: cfg.Table}
	stop := e.run(t)
	eventually(t, "filters are there", func() bool { return e.Stats().Filters == feed.Shards })
	stop()

	var maybe atomic.Int64
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for i := range unknowns / workers {
				key := link.Key{Code: strconv.Itoa(worker) + "-" + strconv.Itoa(i)}
				r, err := e.Lookup(t.Context(), key, key.Hash())
				if err != nil {
					t.Errorf("Lookup(%s): %v", key, err)
					return
				}
				if r.Absent == nil {
					maybe.Add(1)
				}
			}
		})
	}
	all.Wait()
	// The filters are laid out for these keys exactly, hence full, hence built larger.
	if got := maybe.Load(); got > unknowns*12/1000 {
		t.Errorf("maybe of %d unknown keys: got %d, want at most 1.2 %%", unknowns, got)
	}
}

// population is an origin whose links never change: the hashes of each shard.
type population [feed.Shards][]uint64

func (p *population) Changes(_ context.Context, shard int, _, _ uint64) (*feed.Changes, error) {
	return &feed.Changes{Epoch: 1, Shard: shard, Head: 1}, nil
}

func (p *population) Codes(_ context.Context, shard int, after link.Key) (*feed.Codes, error) {
	from := 0
	if after.Code != "" {
		from, _ = strconv.Atoi(after.Code)
	}
	to := min(from+feed.MaxCodes, len(p[shard]))
	return &feed.Codes{
		Epoch: 1, Head: 1, Hashes: p[shard][from:to], Last: link.Key{Code: strconv.Itoa(to)}, More: to < len(p[shard]),
	}, nil
}

func TestAValueTellsAWrongFilter(t *testing.T) {
	t.Parallel()
	shape := bloom.Shape{M: 64, K: 2}
	key := keyOf(1)
	entry := func(epoch, asof, version uint64) *feed.Entry {
		e := &feed.Entry{Epoch: epoch, AsOf: asof, Version: version, Key: key}
		if version > 0 {
			e.Body = live()
		}
		return e
	}
	for _, tc := range []struct {
		name         string
		held         *feed.Entry
		wantNo       bool
		wantDistrust bool
	}{
		{"no value", nil, true, false},
		{"value from before the filter's position", entry(2, 100, 7), false, true},
		{"value made at the filter's position", entry(2, 100, 100), false, true},
		{"value newer than the filter", entry(2, 101, 101), false, false},
		{"value of a newer epoch", entry(3, 1, 1), false, false},
		{"value of an older epoch", entry(1, 500, 5), true, false},
		{"older absent value", entry(2, 50, 0), true, false},
		{"newer absent value", entry(2, 150, 0), false, false},
	} {
		c := New(Config{Shape: shape, Table: feed.NewTable(64, 1)})
		shard := feed.Shard(key.Hash())
		seen := bloom.Header{Shape: shape, Epoch: 2, Generation: 9}
		read := []int64{bloom.Magic<<32 | 9, 100, math.MinInt64, math.MinInt64} // marks alone
		got := c.no(key, key.Hash(), seen, read, tc.held)
		if (got != nil) != tc.wantNo || got != nil && (got.Epoch != 2 || got.AsOf != 100 || got.Key != key || got.State != feed.Absent) {
			t.Errorf("%s: got %+v, want a no: %v", tc.name, got, tc.wantNo)
		}
		if distrusted := !c.filters[shard].trusts(9); distrusted != tc.wantDistrust {
			t.Errorf("%s: distrusted: got %v, want %v", tc.name, distrusted, tc.wantDistrust)
		}
		if queued := len(c.mends) == 1; queued != tc.wantDistrust {
			t.Errorf("%s: queued for a look: got %v, want %v", tc.name, queued, tc.wantDistrust)
		}
		if tc.wantDistrust {
			if got := c.no(key, key.Hash(), seen, read, nil); got != nil {
				t.Errorf("%s: afterwards without a value: got %+v, want maybe", tc.name, got)
			}
		}
	}
}

func TestAnotherShapeIsUsedFromTheNextLookupOn(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	client := connect(t, services.Redis(t).Addr())
	large := config(client, o)
	large.Shape = bloom.ShapeOf(100_000, 0.001, feed.Shards)
	builder := newEdge(o, large)
	stop := builder.run(t)
	o.create(keyOf(1))
	eventually(t, "filters are there", func() bool { return builder.inStepWith(t, o) })
	stop()

	e := newEdge(o, config(client, o)) // does not run: it has not looked at any filter
	key := link.Key{Code: "nobody"}
	if r := e.find(t, key); r.Absent != nil {
		t.Errorf("first lookup: got %+v, want maybe", r.Absent)
	}
	if r := e.find(t, key); r.Absent == nil {
		t.Error("second lookup: got maybe, want no")
	}
	if r := e.find(t, keyOf(1)); r.Absent != nil {
		t.Errorf("known key: got %+v, want maybe", r.Absent)
	}
}

func TestALookupWhoseCallerLeavesIsNoFault(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	e := newEdge(o, config(connect(t, services.Redis(t).Addr()), o))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 * breakAfter {
		if _, err := e.Lookup(gone, keyOf(1), keyOf(1).Hash()); !errors.Is(err, context.Canceled) {
			t.Fatalf("Lookup: got %v, want context.Canceled", err)
		}
	}
	if e.Stats().BreakerOpen {
		t.Error("breaker: got open, want closed")
	}
}

func TestAGenerationThatWasNotSeenIsReadWhole(t *testing.T) {
	t.Parallel()
	shape := bloom.Shape{M: 64, K: 2}
	key := keyOf(1)
	shard := feed.Shard(key.Hash())
	c := New(Config{Shape: shape, Table: feed.NewTable(64, 1)})
	seen := bloom.Header{Shape: shape, Epoch: 2, Generation: 9}
	c.filters[shard].learn(seen)
	const none = math.MinInt64 // the mark alone

	if got := c.no(key, key.Hash(), seen, []int64{bloom.Magic<<32 | 10, 100, none, none}, nil); got != nil {
		t.Errorf("another generation: got %+v, want maybe", got)
	}
	seen = c.filters[shard].known()
	if seen.Epoch != 0 {
		t.Fatalf("afterwards: got %+v, want a header that is not known", seen)
	}
	got := c.no(key, key.Hash(), seen, []int64{bloom.Magic<<32 | 10, 100, none, none, 3, int64(shape.M)<<32 | int64(shape.K)}, nil)
	if got == nil || got.Epoch != 3 || got.AsOf != 100 {
		t.Errorf("read whole: got %+v, want a no at 3, 100", got)
	}
	if got, want := c.filters[shard].known(), (bloom.Header{Shape: shape, Epoch: 3, Generation: 10}); got != want {
		t.Errorf("known then: got %+v, want %+v", got, want)
	}
}

func FuzzFilterAnswer(f *testing.F) {
	f.Add(int64(bloom.Magic)<<32|9, int64(5), int64(math.MinInt64), int64(math.MinInt64), int64(1), int64(64)<<32|2, true)
	f.Add(int64(bloom.Magic)<<32|9, int64(5), int64(math.MinInt64), int64(0), int64(0), int64(0), false)
	f.Add(int64(-1), int64(-1), int64(-1), int64(-1), int64(-1), int64(-1), true)
	f.Fuzz(func(t *testing.T, generation, position, word, second, epoch, packed int64, whole bool) {
		shape := bloom.Shape{M: 64, K: 2}
		c := New(Config{Shape: shape, Table: feed.NewTable(64, 1)})
		key := keyOf(1)
		seen := bloom.Header{Shape: shape, Epoch: 1, Generation: 9}
		read := []int64{generation, position, word, second}
		if whole {
			seen.Epoch = 0
			read = append(read, epoch, packed)
		}
		got := c.no(key, key.Hash(), seen, read, nil)
		if got == nil {
			return
		}
		if generation>>32 != bloom.Magic || word >= 0 || second >= 0 || got.AsOf != uint64(position) {
			t.Fatalf("got %+v from what is no whole filter", got)
		}
		if whole && packed != 64<<32|2 || !whole && generation&math.MaxUint32 != 9 {
			t.Fatalf("got %+v from a filter that is another one than was asked", got)
		}
	})
}

func FuzzParseValue(f *testing.F) {
	key := keyOf(1)
	e := feed.Entry{Epoch: 1, AsOf: 5, Version: 3, Key: key, Body: live()}
	f.Add(string(e.Append(nil)))
	f.Add("")
	f.Add("\x01")
	f.Fuzz(func(t *testing.T, b string) {
		if got := parseValue(b, key); got != nil && got.Key != key {
			t.Fatalf("got the entry of %v, want of %v only", got.Key, key)
		}
	})
}
