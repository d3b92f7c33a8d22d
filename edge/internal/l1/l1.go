// Package l1 is the first tier: entries in the memory of this process, bounded
// by bytes.
package l1

import (
	"fmt"
	"math/bits"

	"github.com/dgraph-io/ristretto/v2"

	"waypost/shared/feed"
)

// Cache holds entries by the hash of their key. Two keys of one hash displace
// each other, so the caller compares the key of what it finds. It may forget
// anything at any time, and for a moment hold an older entry than the one
// stored last (ristretto queues the first store of a key); whether an entry may
// be served is the caller's to judge. All methods are safe from any goroutine.
type Cache struct {
	c *ristretto.Cache[uint64, *feed.Entry]
}

// perEntry is what the cache itself keeps for an entry, in bytes, as measured
// (TestTheByteBoundHolds): up to 171 for a slot in each of its two maps, which
// are half full at their worst, and up to 48 for the frequency counters.
const perEntry = 240

// counters is how many frequency counters ristretto is given for a cache of so
// many bytes: near the ten for an entry that it advises, and as many as its
// memory holds anyway. It rounds the counters up to a power of two, and the bits
// of its filter, 9.585 for a counter, too: 0.8346 × 2^k fill both. With more of
// them it remembers for longer, and holds more of what is asked for again.
func counters(size int64) int64 {
	const counted = 600 // bytes for an entry, so that rounding leaves 7 to 13 counters for one of some 480
	advised := max(size/counted, 1000) * 10
	return int64(1) << bits.Len64(uint64(advised-1)) * 8346 / 10_000 //nolint:gosec // positive
}

// New makes a cache of at most size bytes.
func New(size int64) (*Cache, error) {
	c, err := ristretto.NewCache(&ristretto.Config[uint64, *feed.Entry]{
		NumCounters:        counters(size),
		MaxCost:            max(size, 1),
		BufferItems:        64,
		IgnoreInternalCost: true, // perEntry stands for it
		KeyToHash:          func(hash uint64) (uint64, uint64) { return hash, 0 },
		ShouldUpdate:       func(cur, prev *feed.Entry) bool { return cur.Newer(prev) || cur.Key != prev.Key },
	})
	if err != nil {
		return nil, fmt.Errorf("l1 of %d bytes: %w", size, err)
	}
	return &Cache{c: c}, nil
}

// Entry is what is held for a key's hash, or nil. It does not allocate.
func (c *Cache) Entry(hash uint64) *feed.Entry {
	e, _ := c.c.Get(hash)
	return e
}

// Store offers an entry. An older one of the same key is replaced at once, a
// newer one stays; a key not held is added soon, or not at all.
func (c *Cache) Store(hash uint64, e *feed.Entry) {
	c.c.Set(hash, e, int64(e.Size()+perEntry))
}

// Replace is Store for a key that is held; for others it does nothing.
func (c *Cache) Replace(hash uint64, e *feed.Entry) {
	if held := c.Entry(hash); held != nil && held.Key == e.Key {
		c.Store(hash, e)
	}
}

// Wait blocks until every earlier Store has taken effect.
func (c *Cache) Wait() { c.c.Wait() }

// Close stops the cache's goroutine. No method may be called after it.
func (c *Cache) Close() { c.c.Close() }
