package l2

import (
	"context"
	"math/rand/v2"
	"time"

	"waypost/shared/feed"
)

// stand is where edge and filter stood at one check.
type stand struct {
	epoch, applied uint64
	filter         filter
}

// watch looks at all filters now and then, so that they come back without any
// traffic that would miss them.
func (c *Cache) watch(ctx context.Context) {
	shards := rand.Perm(feed.Shards) //nolint:gosec // edges that start together begin with different shards
	var before *[feed.Shards]stand
	for {
		before = c.check(ctx, shards, before)
		if before != nil && c.writes() {
			c.measure(ctx)
		}
		if !pause(ctx, jitter(c.cfg.Check)) {
			return
		}
	}
}

// check looks at every shard in one round trip, and returns what to compare
// the next check with: nil after a fault. before is nil at first.
func (c *Cache) check(ctx context.Context, shards []int, before *[feed.Shards]stand) *[feed.Shards]stand {
	found, err := c.lookProbing(ctx, shards)
	if err != nil {
		return nil
	}
	var now [feed.Shards]stand
	var usable, lag uint64
	for i, shard := range shards {
		s := stand{filter: found[i]}
		s.epoch, s.applied, _ = c.cfg.Table.Position(shard)
		now[shard] = s
		c.filters[shard].generation.Store(s.filter.Generation)
		if c.useless(shard, s.filter) {
			c.suspect(shard)
			continue
		}
		usable++
		if s.filter.Epoch == s.epoch && s.filter.Position < s.applied {
			lag = max(lag, s.applied-s.filter.Position)
		}
		if c.writes() && c.outOfStep(shard, s, before) {
			c.suspect(shard)
		}
	}
	c.count.filters.Store(usable)
	c.count.lag.Store(lag)
	return &now
}

// outOfStep tells a filter that stays behind, or claims positions that do not
// come, from one that is a moment behind or ahead of this edge: what it lacks
// now it lacked, or claimed, at the check before too. At first everything that
// lags counts.
func (c *Cache) outOfStep(shard int, s stand, before *[feed.Shards]stand) bool {
	if s.filter.Epoch != s.epoch {
		return s.epoch != 0
	}
	if !c.backlog[shard].empty() {
		return false
	}
	if before == nil {
		return s.filter.Position < s.applied
	}
	was := before[shard]
	behind := was.epoch == s.epoch && s.filter.Position < was.applied
	ahead := was.filter.Epoch == s.epoch && was.filter.Position > s.applied
	return behind || ahead
}

// lookProbing looks at the filters and tells how Redis does. While the breaker
// is open, and its pause has passed, it is the breaker's probe: without traffic
// nobody else is.
func (c *Cache) lookProbing(ctx context.Context, shards []int) ([]filter, error) {
	probe, _ := c.breaker.enter()
	began := time.Now()
	found, err := c.look(ctx, shards...)
	how := answered
	switch {
	case ctx.Err() != nil:
		how = unknown
	case err != nil || time.Since(began) > c.cfg.Timeout:
		how = failed
	}
	if probe {
		c.breaker.leave(probe, how, err)
	}
	if how != unknown && (err != nil || !c.breaker.open.Load()) {
		c.cfg.OnRedis(err)
	}
	return found, err
}
