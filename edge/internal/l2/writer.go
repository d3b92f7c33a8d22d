package l2

import (
	"context"
	"sync/atomic"
	"time"
)

// The region's writer holds a lease in Redis for leaseTime and renews it each
// third of that.
const leaseTime = 3 * time.Second

// writer is this edge's part in who of the region keeps Redis in step: the one
// that holds the lease refreshes present values and moves the filters on, the
// others would do the same work once more. Nothing depends on there being only
// one: what a paused or late writer still writes is told by its positions.
type writer struct {
	until atomic.Int64 // since born, nanoseconds: when the lease that this edge holds ends, counted from before it was asked for
}

// writes reports whether this edge holds the region's lease.
func (c *Cache) writes() bool { return int64(time.Since(c.born)) < c.writer.until.Load() }

// holdAll takes the lease when it is free and renews it until ctx ends, then
// gives it up, so that another edge need not wait for its end.
func (c *Cache) holdAll(ctx context.Context) {
	for {
		c.hold(ctx)
		if !pause(ctx, jitter(leaseTime/3)) {
			break
		}
	}
	if c.writes() {
		c.writer.until.Store(0)
		_ = c.run(context.WithoutCancel(ctx), []*call{{script: c.scripts.unlock, key: c.writerKey, args: []any{c.token}}})
	}
}

// hold asks for the lease once. A writer that Redis does not answer stays one
// until the lease that it knows of has ended.
func (c *Cache) hold(ctx context.Context) {
	asked := time.Since(c.born)
	one := &call{script: c.scripts.hold, key: c.writerKey, args: []any{c.token, leaseTime.Milliseconds()}}
	if err := c.run(ctx, []*call{one}); err != nil {
		return
	}
	got, err := one.cmd.Int64()
	switch {
	case err != nil:
	case got == 1:
		took := !c.writes()
		c.writer.until.Store(int64(asked + leaseTime))
		if took {
			c.count.takeovers.Add(1)
			for shard := range c.filters {
				c.suspect(shard) // nobody may have moved it on for a while
			}
		}
	default:
		c.writer.until.Store(0)
	}
}
