package l2

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
	"waypost/shared/bloom"
	"waypost/shared/dial"
	"waypost/shared/feed"
)

// BenchmarkLookup is a lookup by a client as the edge has it, beside one GET of
// the same value by a plain one.
func BenchmarkLookup(b *testing.B) {
	opts := &redis.Options{Addr: services.Redis(b).Addr(), MaxRetries: -1, ContextTimeoutEnabled: true, Protocol: 2}
	raw := redis.NewClient(&redis.Options{Addr: opts.Addr})
	defer raw.Close() //nolint:errcheck // nothing is left to be written
	opts.Dialer = dial.Sparing(redis.NewDialer(opts))
	client := redis.NewClient(opts)
	defer client.Close() //nolint:errcheck // nothing is left to be written
	ctx := b.Context()
	c := New(Config{Redis: client, Prefix: "t", Shape: bloom.ShapeOf(1_000_000, 0.01, feed.Shards)})
	key := keyOf(1)
	hash := key.Hash()
	names := &c.keys[feed.Shard(hash)]
	f := bloom.New(bloom.Header{Shape: c.cfg.Shape, Epoch: 1, Position: 1, Generation: 1})
	f.Add(hash)
	e := &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: live()}
	for name, value := range map[string][]byte{names.filter: f.Append(nil), names.value(key): e.Append(nil)} {
		if err := client.Set(ctx, name, value, 0).Err(); err != nil {
			b.Fatal(err)
		}
	}
	run := func(name string, one func(context.Context) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := one(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("lookup", func(ctx context.Context) error {
		r, err := c.Lookup(ctx, key, hash)
		if err == nil && (r.Entry == nil || r.Absent != nil) {
			b.Fatalf("got %+v, want the value alone", r)
		}
		return err
	})
	run("get", func(ctx context.Context) error { return raw.Get(ctx, names.value(key)).Err() })
}
