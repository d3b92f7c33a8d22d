package l2

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// filled is an origin with so many keys and an edge that runs, with all filters
// there.
func filled(t *testing.T, keys int) (*origin, *edge, *redis.Client) {
	t.Helper()
	o := newOrigin()
	for i := range keys {
		o.create(keyOf(i))
	}
	client := connect(t, services.Redis(t).Addr())
	e := newEdge(o, config(client, o))
	e.run(t)
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })
	return o, e, client
}

// noneRefused fails the test if any of the keys is refused by the filter.
func noneRefused(t *testing.T, e *edge, keys int) {
	t.Helper()
	for i := range keys {
		if e.refuses(t, keyOf(i)) {
			t.Fatalf("key %d, which was created, is refused by the filter", i)
		}
	}
}

func TestFiltersComeBackByThemselves(t *testing.T) {
	t.Parallel()
	const keys = 300
	deleteFilters := func(ctx context.Context, client *redis.Client, e *edge) error {
		for shard := range feed.Shards {
			if err := client.Del(ctx, e.keys[shard].filter).Err(); err != nil {
				return err
			}
		}
		return nil
	}
	damage := func(change func(b []byte) []byte) func(context.Context, *redis.Client, *edge) error {
		return func(ctx context.Context, client *redis.Client, e *edge) error {
			for shard := range feed.Shards {
				b, err := client.Get(ctx, e.keys[shard].filter).Bytes()
				if err != nil {
					return err
				}
				if err := client.Set(ctx, e.keys[shard].filter, change(b), 0).Err(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, tc := range []struct {
		name string
		lose func(ctx context.Context, client *redis.Client, e *edge) error
	}{
		{"flushed", func(ctx context.Context, client *redis.Client, _ *edge) error { return client.FlushAll(ctx).Err() }},
		{"only filters deleted", deleteFilters},
		{"random bytes", damage(noise)},
		{"cut to the header", damage(func(b []byte) []byte { return b[:bloom.HeaderSize] })},
		{"cut in the middle", damage(func(b []byte) []byte { return b[:len(b)/2] })},
		{"too long", damage(func(b []byte) []byte { return append(b, 0) })},
		{"empty strings", damage(func([]byte) []byte { return nil })},
		{"a position beyond the head", damage(func(b []byte) []byte { b[20] = 1; return b })},
		{"an epoch that never was", damage(func(b []byte) []byte { b[14] = 1; return b })},
		{"another type", func(ctx context.Context, client *redis.Client, e *edge) error {
			_, err := client.TxPipelined(ctx, func(tx redis.Pipeliner) error { // or the filter is back in between
				for shard := range feed.Shards {
					tx.Del(ctx, e.keys[shard].filter)
					tx.LPush(ctx, e.keys[shard].filter, "x")
				}
				return nil
			})
			return err
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o, e, client := filled(t, keys)
			if err := tc.lose(t.Context(), client, e); err != nil {
				t.Fatal(err)
			}
			noneRefused(t, e, keys)
			eventually(t, "filters are there again", func() bool { return e.inStepWith(t, o) })
			noneRefused(t, e, keys)
			if !e.refuses(t, link.Key{Code: "nobody"}) {
				t.Error("unknown key afterwards: got maybe, want no")
			}
		})
	}
}

// noise overwrites b with random bytes.
func noise(b []byte) []byte {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func TestAFilterWithTheWrongEndIsNotBelieved(t *testing.T) {
	t.Parallel()
	const keys = 100
	o, e, client := filled(t, keys)
	shard := feed.Shard(keyOf(0).Hash())
	// As long as it should be, but the end is not the one that was written.
	b, err := client.Get(t.Context(), e.keys[shard].filter).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	clear(b[bloom.HeaderSize:])
	eventually(t, "a check has seen the filter", func() bool { return e.Generation(shard) != 0 })
	before := e.Generation(shard)
	if err := client.Set(t.Context(), e.keys[shard].filter, b, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if e.refuses(t, keyOf(0)) {
		t.Error("known key: got no, want maybe")
	}
	eventually(t, "the filter was built anew", func() bool {
		now := client.Get(t.Context(), e.keys[shard].filter).Val()
		return now != string(b) && e.inStepWith(t, o)
	})
	eventually(t, "its generation is seen", func() bool { got := e.Generation(shard); return got != 0 && got != before })
	noneRefused(t, e, keys)
}

func TestAFilterThatLostAKeyIsFoundByItsValue(t *testing.T) {
	t.Parallel()
	const keys = 100
	o, e, client := filled(t, keys)
	key := keyOf(0)
	shard := feed.Shard(key.Hash())
	e.Store(&feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: live()})
	eventually(t, "the value is there", func() bool { return e.find(t, key).Entry != nil })

	found, err := e.look(within(t), shard)
	if err != nil {
		t.Fatal(err)
	}
	empty := string(bloom.New(found[0].Header).Append(nil))
	if err := client.Set(t.Context(), e.keys[shard].filter, empty, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if r := e.find(t, key); r.Absent != nil {
		t.Errorf("Lookup: got a no beside the value, want maybe")
	}
	eventually(t, "the filter was built anew", func() bool {
		return client.Get(t.Context(), e.keys[shard].filter).Val() != empty
	})
	eventually(t, "the filter is in step", func() bool { return e.inStepWith(t, o) })
	noneRefused(t, e, keys)
	if got := e.Stats().Distrusts; got == 0 {
		t.Error("distrusts: got 0, want some")
	}
}

func TestAnOldSnapshotLagsAndCatchesUp(t *testing.T) {
	t.Parallel()
	const before, after = 200, 200
	o, e, client := filled(t, before)
	var snapshot [feed.Shards]string
	for shard := range snapshot {
		snapshot[shard] = client.Get(t.Context(), e.keys[shard].filter).Val()
	}
	for i := range after {
		o.create(keyOf(before + i))
	}
	eventually(t, "filters have moved", func() bool { return e.inStepWith(t, o) })
	asked := o.codesAsked()
	o.set(func() { o.down = true })
	for shard := range snapshot {
		if err := client.Set(t.Context(), e.keys[shard].filter, snapshot[shard], 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	noneRefused(t, e, before+after)
	for i := range after { // as old as it is, the answer says so itself
		key := keyOf(before + i)
		if r := e.find(t, key); r.Absent != nil && r.Absent.AsOf >= o.created(key) {
			t.Fatalf("no for key %d: got as of %d, created at %d", before+i, r.Absent.AsOf, o.created(key))
		}
	}
	o.set(func() { o.down = false })
	eventually(t, "filters have caught up", func() bool { return e.inStepWith(t, o) })
	noneRefused(t, e, before+after)
	if got := o.codesAsked(); got != asked {
		t.Errorf("pages of codes: got %d more, want 0: changes are enough", got-asked)
	}
}

// created is the position at which a key was made.
func (o *origin) created(key link.Key) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.log[feed.Shard(key.Hash())] {
		if c.Key == key && c.Kind == feed.Create {
			return c.Seq
		}
	}
	return 0
}

func TestAFilterThatIsTooFarBehindIsBuiltAnew(t *testing.T) {
	t.Parallel()
	const keys = 400
	o := newOrigin()
	client := connect(t, services.Redis(t).Addr())
	e := newEdge(o, config(client, o))
	stop := e.run(t)
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })
	stop()
	for i := range keys {
		o.create(keyOf(i))
	}
	o.set(func() { o.kept = 1 })
	late := newEdge(o, config(client, o))
	late.run(t)
	eventually(t, "filters are in step", func() bool { return late.inStepWith(t, o) })
	noneRefused(t, late, keys)
	if got := late.Stats().Rebuilds; got == 0 {
		t.Error("rebuilds: got 0, want some")
	}
}

func TestANewEpochGetsNewFilters(t *testing.T) {
	t.Parallel()
	const keys = 200
	o, e, _ := filled(t, keys)
	o.bump()
	for i := range keys { // filters of the old epoch say nothing in the new one
		if e.refuses(t, keyOf(i)) {
			t.Fatalf("key %d is refused", i)
		}
	}
	eventually(t, "filters are of the new epoch", func() bool { return e.inStepWith(t, o) })
	noneRefused(t, e, keys)
}

// Two edges write the same filters while these are lost again and again.
func TestNoCreatedKeyIsEverRefused(t *testing.T) {
	t.Parallel()
	const keys = 10_000
	o := newOrigin()
	client := connect(t, services.Redis(t).Addr())
	a, b := newEdge(o, config(client, o)), newEdge(o, config(client, o))
	a.run(t)
	b.run(t)

	done := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { // loses filters
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := client.Del(t.Context(), a.keys[rand.IntN(feed.Shards)].filter).Err(); err != nil {
				t.Error(err)
				return
			}
			if !pause(t.Context(), jitter(codesPause)) {
				return
			}
		}
	})
	for i := range keys {
		o.create(keyOf(i))
		for _, e := range []*edge{a, b} {
			if n := rand.IntN(i + 1); i%4 == 0 && (e.refuses(t, keyOf(n)) || e.refuses(t, keyOf(i))) {
				t.Errorf("key %d or %d is refused though it was created", n, i)
			}
		}
	}
	close(done)
	others.Wait()
	eventually(t, "filters are in step", func() bool { return a.inStepWith(t, o) })
	for i := range keys {
		if r := a.find(t, keyOf(i)); r.Absent != nil {
			t.Fatalf("key %d: got %+v, want maybe", i, r.Absent)
		}
	}
	if got := a.Stats().Rebuilds + b.Stats().Rebuilds; got <= feed.Shards {
		t.Errorf("rebuilds: got %d, want more than %d: nothing raced", got, feed.Shards)
	}
}
