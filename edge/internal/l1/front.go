package l1

import (
	"math/bits"
	"sync/atomic"

	"waypost/shared/feed"
)

// front are entries that were asked for of late, one in each place: what is asked
// for all the time is found by two loads, without the cache's lock, map and
// counting. It holds nothing for long that the cache does not hold.
//
// Whoever puts an entry here found it in the cache before, and whoever takes one
// out of the cache looks here after. One that was put here in between stays until
// its place is another one's or its key is counted again; as every entry, it is
// judged by who finds it.
type front struct {
	places []place
}

// place is one entry's. What is found by its hash must be looked at all the same:
// the two are not stored at once.
type place struct {
	hash  atomic.Uint64 // spares a look at another key's entry, which stands anywhere in memory
	entry atomic.Pointer[feed.Entry]
}

// entriesPerPlace is for how many entries of a cache there is a place. So few are
// always among those that it would be the last to forget: that it counts only some
// of their hits makes no difference.
const entriesPerPlace = 8

// mostPlaces take 512 KiB, which stay near the processor.
const mostPlaces = 1 << 15

// newFront has a power of two of places for a cache of so many entries.
func newFront(entries int64) front {
	n := min(max(entries/entriesPerPlace, 1), mostPlaces)
	return front{places: make([]place, 1<<(bits.Len64(uint64(n))-1))}
}

// at is the place of a key with this hash.
func (f *front) at(hash uint64) *place {
	return &f.places[hash&uint64(len(f.places)-1)] //nolint:gosec // there is at least one
}

// get is the entry that stands here for a key, if it does.
func (p *place) get(domain string, code []byte, hash uint64) *feed.Entry {
	if p.hash.Load() != hash {
		return nil
	}
	if e := p.entry.Load(); e != nil && is(e, domain, code) {
		return e
	}
	return nil
}

func (p *place) put(hash uint64, e *feed.Entry) {
	p.entry.Store(e)
	p.hash.Store(hash)
}

// left is for an entry that the cache holds no more.
func (f *front) left(e *feed.Entry) {
	if e != nil {
		f.at(e.Key.Hash()).entry.CompareAndSwap(e, nil)
	}
}
