// Package l1 is the first tier: entries in the memory of this process, bounded
// by bytes.
package l1

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/dgraph-io/ristretto/v2"

	"waypost/shared/feed"
)

// Cache holds entries by the hash of their key. Two keys of one hash displace
// each other. It may forget
// anything at any time, and for a moment hold an older entry than the one
// stored last (ristretto queues the first store of a key); whether an entry may
// be served is the caller's to judge. All methods are safe from any goroutine.
type Cache struct {
	c     *ristretto.Cache[uint64, *feed.Entry]
	front front
}

// perEntry is what the cache itself keeps for an entry, in bytes, as measured
// (TestTheByteBoundHolds): up to 171 for a slot in each of its two maps, which
// are half full at their worst, and up to 48 for the frequency counters.
const perEntry = 240

// counted is what an entry is taken to need together with all that is kept for it, in
// bytes, where counters and places are given to a cache.
const counted = 600

// counters is how many frequency counters ristretto is given for a cache of so
// many bytes: near the ten for an entry that it advises, and as many as its
// memory holds anyway. It rounds the counters up to a power of two, and the bits
// of its filter, 9.585 for a counter, too: 0.8346 × 2^k fill both. With more of
// them it remembers for longer, and holds more of what is asked for again.
func counters(size int64) int64 {
	// Rounding leaves 7 to 13 counters for an entry of some 480 bytes.
	advised := max(size/counted, 1000) * 10
	return int64(1) << bits.Len64(uint64(advised-1)) * 8346 / 10_000 //nolint:gosec // positive
}

// New makes a cache of at most size bytes.
func New(size int64) (*Cache, error) {
	f := newFront(size / counted)
	c, err := ristretto.NewCache(&ristretto.Config[uint64, *feed.Entry]{
		NumCounters:        counters(size),
		MaxCost:            max(size, 1),
		BufferItems:        64,
		IgnoreInternalCost: true, // perEntry stands for it
		KeyToHash:          func(hash uint64) (uint64, uint64) { return hash, 0 },
		OnExit:             f.left,
		ShouldUpdate:       func(cur, prev *feed.Entry) bool { return cur.Newer(prev) || cur.Key != prev.Key },
	})
	if err != nil {
		return nil, fmt.Errorf("l1 of %d bytes: %w", size, err)
	}
	return &Cache{c: c, front: f}, nil
}

// Of so many hits at the front one is counted, on average, so that what is asked for
// all the time is not forgotten; and of so many beyond it one has its entry put
// there, so that what is asked for now and then does not come and go.
const countOne, putOne = 8, 4

// Entry is what is held for a key, whose hash is given, or nil. It does not allocate,
// and code is not kept.
func (c *Cache) Entry(domain string, code []byte, hash uint64) *feed.Entry {
	place := c.front.at(hash)
	first := place.get(domain, code, hash)
	luck := rand.Uint32() //nolint:gosec // no secret
	if first != nil && luck%countOne != 0 {
		return first
	}
	held, ok := c.c.Get(hash)
	switch {
	case !ok || !is(held, domain, code):
		if first != nil {
			place.entry.CompareAndSwap(first, nil)
		}
		return nil
	case held != first && (first != nil || luck%putOne == 0):
		place.put(hash, held)
	}
	return held
}

// is says whether an entry is of a key.
func is(e *feed.Entry, domain string, code []byte) bool {
	return e.Key.Code == string(code) && e.Key.Domain == domain
}

// Store offers an entry. An older one of the same key is replaced at once, a
// newer one stays; a key not held is added soon, or not at all.
func (c *Cache) Store(hash uint64, e *feed.Entry) {
	c.c.Set(hash, e, int64(e.Size()+perEntry))
}

// Replace is Store for a key that is held; for others it does nothing.
func (c *Cache) Replace(hash uint64, e *feed.Entry) {
	if held, ok := c.c.Get(hash); ok && held.Key == e.Key {
		c.Store(hash, e)
	}
}

// Wait blocks until every earlier Store has taken effect.
func (c *Cache) Wait() { c.c.Wait() }

// Close stops the cache's goroutine. No method may be called after it.
func (c *Cache) Close() { c.c.Close() }
