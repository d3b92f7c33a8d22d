package l2

import (
	"context"

	"github.com/redis/go-redis/v9"

	"waypost/shared/bloom"
	"waypost/shared/feed"
)

// fullShare is how full a filter may get, in keys against those it is laid out
// for, before the next generation is built larger.
const fullShare = 0.8

// measure is the region writer's look at how full its filters are: a shard
// whose filter has gone beyond fullShare gets one for twice as many keys. It
// counts bits in Redis, some microseconds a shard.
func (c *Cache) measure(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	pipe := c.cfg.Redis.Pipeline()
	var counts [feed.Shards]*redis.IntCmd
	for shard := range counts {
		counts[shard] = pipe.BitCount(ctx, c.keys[shard].filter, &redis.BitCount{Start: bloom.HeaderSize, End: -1})
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return // the watch reports what Redis does
	}
	fullest := 0.0
	for shard, count := range counts {
		if count.Err() != nil || count.Val() == 0 {
			continue
		}
		shape := c.filters[shard].known().Shape
		share := shape.Keys(uint64(count.Val())) / shape.Capacity() //nolint:gosec // a count
		fullest = max(fullest, share)
		if share >= fullShare {
			c.want(shard, shape.Doubled())
		}
	}
	c.count.fill.Store(uint64(fullest * 1e6))
}

// want asks for a filter of at least this shape.
func (c *Cache) want(shard int, shape bloom.Shape) {
	f := &c.filters[shard]
	if shape.Beyond(f.wanted()) {
		f.want.Store(uint64(shape.M)<<32 | uint64(shape.K))
		c.suspect(shard)
	}
}

// fitting is the shape for a filter of so many keys: the wanted one, doubled
// until they leave it room.
func (c *Cache) fitting(shard, keys int) bloom.Shape {
	shape := c.filters[shard].wanted()
	for float64(keys) >= fullShare*shape.Capacity() && shape.Doubled() != shape {
		shape = shape.Doubled()
	}
	return shape
}
