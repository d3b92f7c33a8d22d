package limit

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

const slotsPerSet = 8

// slot is one client's place in the table: free while id is 0.
type slot struct {
	id    atomic.Uint64 // a clientID
	state atomic.Uint64 // a bucket
}

// set holds the slots that a client may have, two cache lines, and on a third
// what is counted for them, so that counting does not slow down finding.
type set struct {
	slots    [slotsPerSet]slot
	claiming sync.Mutex // held to give a slot to a client, never to find or to spend
	admitted atomic.Uint64
	limited  atomic.Uint64
	_        [40]byte
}

// table is the edge's bounded memory of clients. Its size is fixed: 192 bytes
// for a set of 8 clients. A client's set is chosen by a hash with a seed drawn
// at the start, so that nobody can aim at a set.
//
// A set that is full gives a newcomer the slot of an idle bucket, which loses
// nothing: a full bucket is what a newcomer gets. Where no bucket is idle, the
// newcomer takes the fullest one over as it is: what was spent from it stays
// spent. So a flood of new clients can neither grow memory nor buy a fresh
// bucket by pushing an old one out: whatever passes through a set, its eight
// slots admit eight buckets' worth. A client that is held back has the emptiest
// bucket of its set and goes last. The price is paid when more clients are
// active within one refill than there are slots: some of them then share a
// bucket, and see 429 early.
//
// Safe for concurrent use.
type table struct {
	sets  []set
	mask  uint64 // the number of sets, a power of two, less one
	seed  maphash.Seed
	taken atomic.Uint64 // buckets taken over before they were idle
}

// newTable returns a table for at least clients clients.
func newTable(clients int) *table {
	mask := uint64(0)
	for room := slotsPerSet; room < clients; room *= 2 {
		mask = mask<<1 | 1
	}
	return &table{sets: make([]set, mask+1), mask: mask, seed: maphash.MakeSeed()}
}

// set returns the set of a client.
func (t *table) set(id clientID) *set { return &t.sets[maphash.Comparable(t.seed, id)&t.mask] }

// find returns the client's slot in s, or nil.
func (s *set) find(id clientID) *slot {
	for i := range s.slots {
		if s.slots[i].id.Load() == uint64(id) {
			return &s.slots[i]
		}
	}
	return nil
}

// slot returns the client's slot in its set s, which it is given if it has
// none. By the time the caller uses it, it may have gone to another client; it
// then spends from the bucket that was this client's a moment ago.
func (t *table) slot(s *set, id clientID, now, depth int64) *slot {
	if found := s.find(id); found != nil {
		return found
	}
	// Two requests of a new client must not get two slots.
	s.claiming.Lock()
	defer s.claiming.Unlock()
	if found := s.find(id); found != nil {
		return found
	}
	chosen := s.choose(now)
	if b := bucket(chosen.state.Load()); !b.idle(now) {
		t.taken.Add(1)
		for !chosen.state.CompareAndSwap(uint64(b), uint64(b.inherited(now, depth))) {
			b = bucket(chosen.state.Load())
		}
	}
	// Last, so that whoever finds the client here finds its bucket, too.
	chosen.id.Store(uint64(id))
	return chosen
}

// choose returns the slot for a newcomer: a free one, else an idle one, else
// the one with the fullest bucket.
func (s *set) choose(now int64) *slot {
	var fullest *slot
	for i := range s.slots {
		candidate := &s.slots[i]
		b := bucket(candidate.state.Load())
		if candidate.id.Load() == 0 || b.idle(now) {
			return candidate
		}
		if fullest == nil || b.full() < bucket(fullest.state.Load()).full() {
			fullest = candidate
		}
	}
	return fullest
}
