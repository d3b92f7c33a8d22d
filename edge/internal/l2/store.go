package l2

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"waypost/shared/feed"
)

// Values wait for a place in a pipeline; what does not fit is dropped, which
// costs a later miss.
const (
	maxStores    = 4096
	storeWorkers = 2
	// storeYields is how often whoever else can run goes first: the visitor for
	// whom a value was filled has his answer to write, and yields once himself
	// until his click is on disk.
	storeYields = 4
)

// Store offers an entry that was filled or found. It never waits. Redis keeps
// whichever of old and new is newer by (epoch, position).
func (c *Cache) Store(e *feed.Entry) {
	select {
	case c.stores <- e:
	default:
		c.count.dropped.Add(1)
	}
}

// storeAll writes what Store was given, as many at once as are waiting.
func (c *Cache) storeAll(ctx context.Context) {
	var batch []*call
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-c.stores:
			for range storeYields {
				runtime.Gosched()
			}
			batch = append(batch[:0], c.put(e))
		}
		batch = c.waiting(batch)
		if c.breaker.open.Load() {
			c.count.dropped.Add(uint64(len(batch)))
			continue
		}
		if err := c.run(ctx, batch); err != nil {
			c.count.dropped.Add(uint64(len(batch)))
			continue
		}
		for _, one := range batch {
			if one.cmd.Err() != nil {
				c.count.dropped.Add(1)
			} else {
				c.count.stores.Add(1)
			}
		}
	}
}

func (c *Cache) waiting(batch []*call) []*call {
	for len(batch) < maxCalls {
		select {
		case e := <-c.stores:
			batch = append(batch, c.put(e))
		default:
			return batch
		}
	}
	return batch
}

// put writes a value, refresh replaces one that is there.
func (c *Cache) put(e *feed.Entry) *call { return c.write(e, "") }

func (c *Cache) refresh(e *feed.Entry) *call { return c.write(e, "present") }

func (c *Cache) write(e *feed.Entry, mode string) *call {
	return &call{
		script: c.scripts.store,
		key:    c.keys[feed.Shard(e.Key.Hash())].value(e.Key),
		args:   []any{e.Append(nil), c.ttl(e).Milliseconds(), mode},
	}
}

// ttl is short for keys that never had a row: anybody can ask for any number
// of them.
func (c *Cache) ttl(e *feed.Entry) time.Duration {
	ttl := c.cfg.TTL
	if e.State == feed.Absent && e.Version == 0 {
		ttl = c.cfg.AbsentTTL
	}
	return ttl + rand.N(ttl/10+1) //nolint:gosec // spread, not secrecy
}
