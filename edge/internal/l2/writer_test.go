package l2

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
	"waypost/shared/bloom"
	"waypost/shared/feed"
)

// pair is two edges of one region that run; stop ends the first writer's life.
func pair(t *testing.T, o *origin, client redis.UniversalClient) (writer, other *edge, stop func()) {
	t.Helper()
	a, b := newEdge(o, config(client, o)), newEdge(o, config(client, o))
	stopA, stopB := a.run(t), b.run(t)
	eventually(t, "one edge writes", func() bool { return a.writes() || b.writes() })
	if a.writes() {
		return a, b, stopA
	}
	return b, a, stopB
}

func TestOneEdgeOfARegionWrites(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	writer, other, _ := pair(t, o, connect(t, services.Redis(t).Addr()))
	eventually(t, "filters are there", func() bool { return writer.inStepWith(t, o) })
	for i := range 500 {
		o.create(keyOf(i))
	}
	eventually(t, "filters are in step", func() bool { return writer.inStepWith(t, o) })
	if other.writes() {
		t.Error("both edges hold the lease")
	}
	for shard := range other.backlog {
		if !other.backlog[shard].empty() {
			t.Fatal("the other edge has changes waiting for Redis")
		}
	}
	noneRefused(t, other, 500)
	if got := other.Stats(); got.Writer || got.Takeovers != 0 {
		t.Errorf("the other edge: got %+v, want no writer", got)
	}
}

func TestAWriterThatLeavesIsFollowedAtOnce(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	writer, other, stop := pair(t, o, connect(t, services.Redis(t).Addr()))
	eventually(t, "filters are there", func() bool { return writer.inStepWith(t, o) })
	stop()
	for i := range 200 {
		o.create(keyOf(i))
	}
	eventually(t, "the other edge writes", other.writes)
	eventually(t, "filters are in step", func() bool { return other.inStepWith(t, o) })
	noneRefused(t, other, 200)
}

func TestAWriterThatDiesIsFollowed(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	client := connect(t, services.Redis(t).Addr())
	// A writer that stopped without a word: its lease runs on.
	dead := newEdge(o, config(client, o))
	dead.hold(within(t))
	if !dead.writes() {
		t.Fatal("the lease is not taken")
	}
	e := newEdge(o, config(client, o))
	e.run(t)
	e.hold(within(t))
	if e.writes() {
		t.Error("a lease that runs was taken over")
	}
	for i := range 200 {
		o.create(keyOf(i))
	}
	eventually(t, "the lease ends and is taken over", e.writes)
	eventually(t, "filters are in step", func() bool { return e.inStepWith(t, o) })
	noneRefused(t, e, 200)
	if dead.writes() {
		t.Error("the old writer believes in its lease though the new one holds it")
	}
}

func TestAWriterWithoutRedisStopsWithItsLease(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	server := services.Redis(t)
	e := newEdge(o, config(connect(t, server.Addr()), o))
	e.hold(within(t))
	server.Kill()
	eventually(t, "the lease ends", func() bool { return !e.writes() })
}

func TestAFilterThatFillsUpIsBuiltLarger(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	o.page = 1000
	client := connect(t, services.Redis(t).Addr())
	cfg := config(client, o)
	cfg.Shape = bloom.ShapeOf(2_000, 0.01, feed.Shards)
	e := newEdge(o, cfg)
	e.run(t)
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) && e.writes() })
	const keys = 6_000 // three times what they are laid out for
	for i := range keys {
		o.create(keyOf(i))
	}
	eventually(t, "every filter has room", func() bool {
		found, err := e.look(context.WithoutCancel(t.Context()), allShards()...)
		if err != nil {
			return false
		}
		for _, f := range found {
			if !f.whole || f.Capacity() < float64(keys)/feed.Shards {
				return false
			}
		}
		return e.inStepWith(t, o)
	})
	noneRefused(t, e, keys)
	maybe := 0
	for i := range 5_000 {
		if e.find(t, keyOf(keys+i)).Absent == nil {
			maybe++
		}
	}
	if maybe > 5_000*12/1000 {
		t.Errorf("maybe of 5,000 unknown keys: got %d, want at most 1.2 %%", maybe)
	}
	if got := e.Stats().Fill; got <= 0 || got >= 1 {
		t.Errorf("fill: got %v, want between 0 and 1", got)
	}
}

func TestAnEdgeDoesNotShrinkAGrownFilter(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	client := connect(t, services.Redis(t).Addr())
	cfg := config(client, o)
	cfg.Shape = cfg.Shape.Doubled()
	grown := newEdge(o, cfg)
	stop := grown.run(t)
	eventually(t, "filters are there", func() bool { return grown.inStepWith(t, o) })
	stop()
	e := newEdge(o, config(client, o))
	e.run(t)
	eventually(t, "the next edge writes", e.writes)
	for i := range 100 {
		o.create(keyOf(i))
	}
	eventually(t, "filters are in step", func() bool { return e.inStepWith(t, o) })
	found, err := e.look(within(t), allShards()...)
	if err != nil {
		t.Fatal(err)
	}
	for shard, f := range found {
		if f.Shape != cfg.Shape {
			t.Errorf("shard %d: got shape %+v, want %+v", shard, f.Shape, cfg.Shape)
		}
	}
}

func allShards() []int {
	all := make([]int, feed.Shards)
	for shard := range all {
		all[shard] = shard
	}
	return all
}
