package feed

import (
	"fmt"
	"slices"

	"waypost/shared/link"
)

// The model's truth: what one shard of the database went through. One key, A,
// is read; another, B, has the same slot. Time counts commits: at time t the
// first t events have happened.

type event uint8

const (
	setA     event = iota + 1 // create, update or re-create
	deleteA                   // leaves a tombstone
	purgeA                    // no value, the version stays
	purgeAll                  // of every key
	setB
	forgetA   // its tombstone's row is removed, long after; no position
	restoreTo // and more: the position that the database is restored to; a new epoch begins
)

// firstHead is the shard's position before the world's first write.
const firstHead = 1

type row uint8

const (
	noRow row = iota
	live
	tombstone
)

// moment is the truth at one time.
type moment struct {
	epoch, head uint8
	version     uint8 // of A's content
	purged      uint8 // the last purge of A
	a           row
	b           bool  // B has a row
	oldest      uint8 // the time of the oldest entry that no tier's TTL has ended yet
}

// rank orders positions across epochs.
type rank uint8

func rankOf(epoch, position uint8) rank { return rank(epoch<<4 | position) }

// at is how new an entry of this moment is.
func (m *moment) at() rank { return rankOf(m.epoch, m.head) }

// content is where A's content comes from.
func (m *moment) content() rank { return rankOf(m.epoch, m.version) }

// need is how new an entry must be that is not older than this moment.
func (m *moment) need() rank { return rankOf(m.epoch, max(m.version, m.purged)) }

// history is a sequence of events with everything that follows from it.
type history struct {
	events  []event
	moments []moment  // by time
	entries []*Entry  // A's, as a fill reads it, by time
	noes    []*Entry  // what a filter's "no" says, by time
	changes []*Change // by time of the commit - 1; nil for a restore
	next    map[event]uint16
}

// histories numbers each history once.
type histories struct {
	all  []*history
	a, b link.Key
}

func newHistories(a, b link.Key, first row) *histories {
	h := &history{moments: []moment{{epoch: 1, head: firstHead, a: first}}, next: make(map[event]uint16)}
	if first != noRow {
		h.moments[0].version = firstHead
	}
	hs := &histories{a: a, b: b}
	hs.add(h)
	return hs
}

func (hs *histories) add(h *history) uint16 {
	m := &h.moments[len(h.moments)-1]
	e := &Entry{Epoch: uint64(m.epoch), AsOf: uint64(m.head), Version: uint64(m.version), Key: hs.a}
	if m.a == live {
		e.State = Enabled
	}
	h.entries = append(h.entries, e)
	h.noes = append(h.noes, &Entry{Epoch: e.Epoch, AsOf: e.AsOf, Key: hs.a})
	hs.all = append(hs.all, h)
	return uint16(len(hs.all) - 1)
}

// extend is the history that follows number n by one more event; ok is false
// where the event cannot happen.
func (hs *histories) extend(n uint16, e event) (number uint16, ok bool) {
	h := hs.all[n]
	if number, ok = h.next[e]; ok {
		return number, true
	}
	m := h.moments[len(h.moments)-1]
	var c *Change
	switch {
	case e == forgetA:
		if m.a != tombstone {
			return 0, false
		}
		m.oldest = m.version - firstHead // a tombstone outlives what was cached before it
		m.a, m.version = noRow, 0
	case e >= restoreTo:
		if m.epoch != 1 || uint8(e-restoreTo) > m.head || e-restoreTo < firstHead {
			return 0, false
		}
		m = h.moments[e-restoreTo-firstHead] // in the first epoch, each event was one position
		m.epoch = 2
	default:
		if c = hs.write(&m, e); c == nil {
			return 0, false
		}
	}
	grown := &history{
		events:  append(slices.Clip(h.events), e),
		moments: append(slices.Clip(h.moments), m),
		entries: slices.Clip(h.entries),
		noes:    slices.Clip(h.noes),
		changes: append(slices.Clip(h.changes), c),
		next:    make(map[event]uint16),
	}
	number = hs.add(grown)
	h.next[e] = number
	return number, true
}

// write is the change that an event commits; nil if there is nothing to do.
func (hs *histories) write(m *moment, e event) *Change {
	c := &Change{Epoch: uint64(m.epoch), Shard: Shard(hs.a.Hash()), Key: hs.a, Kind: Changed}
	m.head++
	c.Seq = uint64(m.head)
	switch e {
	case setA:
		if m.a == noRow {
			c.Kind = Create
		}
		m.a, m.version = live, m.head
	case deleteA:
		if m.a != live {
			return nil
		}
		m.a, m.version = tombstone, m.head
	case purgeA:
		if m.a == noRow {
			return nil
		}
		c.Kind, m.purged = Purge, m.head
	case purgeAll:
		c.Kind, c.Key, m.purged = PurgeAll, link.Key{}, m.head
	case setB:
		c.Key = hs.b
		if !m.b {
			c.Kind = Create
		}
		m.b = true
	case forgetA, restoreTo:
	}
	return c
}

// need is how new an entry of A must be for whom knows the change of this time.
func (h *history) need(time int) rank {
	if h.changes[time-1] == nil || h.events[time-1] == setB {
		return 0
	}
	return h.moments[time].at()
}

func (h *history) describe(time int) string {
	m := &h.moments[time]
	what := map[event]string{
		setA: "A is set", deleteA: "A is deleted", purgeA: "A is purged", purgeAll: "all is purged", setB: "B is set",
		forgetA: "A's tombstone is removed",
	}[h.events[time-1]]
	if what == "" {
		what = "the database is restored"
	}
	return fmt.Sprintf("%s: epoch %d, position %d", what, m.epoch, m.head)
}
