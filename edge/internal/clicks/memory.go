package clicks

import (
	"sync"
	"sync/atomic"

	"waypost/shared/click"
	"waypost/shared/pace"
)

// memory counts clicks that the spool did not take. It is a log of its own, in
// which an offset is a number of clicks: records first, which are added up by
// and by and wait as stretches for the origin. All of it is bounded; what is
// beyond is counted as lost. A kill loses it all.
type memory struct {
	boot, region string
	bounds       memoryBounds

	clicks atomic.Int64  // held
	lost   atomic.Uint64 // beyond the bounds
	late   atomic.Uint64 // voids

	mu    sync.Mutex
	fresh chunk  // not looked at yet
	taken uint64 // clicks and orphans so far: the next one's offset

	work   sync.Mutex // of all below; before mu
	pace   *pace.Pace
	held   chunk      // looked at for voids only
	seen   uint64     // everything before it has been added up
	sum    *aggregate // nil until the first click
	added  uint64     // offsets that sum covers
	ready  []batch    // full ones, oldest first
	mark   uint64     // what the origin has applied
	parcel *parcel    // of the first batch: kept until the mark moves

	refusals refusals // of the parcel; for whoever sends it alone
}

// memoryBounds are how many bytes of records, and how many stretches of about so
// many bytes each, memory may hold.
type memoryBounds struct {
	records, stretches, bytes int
}

// batch is a stretch without its place in the log.
type batch struct {
	stretch []byte
	offsets uint64 // that it covers
	clicks  uint64
}

func newMemory(boot, region string, bounds memoryBounds) *memory {
	return &memory{boot: boot + "-m", region: region, bounds: bounds, pace: pace.New()}
}

// count takes a click and returns its offset; not ok if there is no room.
func (m *memory) count(r *click.Record) (at uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.fresh.bytes)+click.MaxRecord > m.bounds.records {
		m.lost.Add(1)
		return 0, false
	}
	at = m.taken
	m.taken++
	from := len(m.fresh.bytes)
	m.fresh.bytes = r.Append(m.fresh.bytes)
	m.fresh.frames = append(m.fresh.frames, frame{at, from, len(m.fresh.bytes)})
	m.clicks.Add(1)
	return at, true
}

// void cancels a click that was counted here; where there is no room for it the
// click counts, as one whose void came too late.
func (m *memory) void(at uint64) {
	var buf [click.MaxRecord]byte
	if !m.put(click.AppendVoid(buf[:0], at), 0) {
		m.late.Add(1)
	}
}

// orphans takes a count of orphans; not ok if there is no room.
func (m *memory) orphans(c click.HourCount) bool { return m.put(c.Append(nil), 1) }

func (m *memory) put(payload []byte, offsets uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.fresh.bytes)+len(payload) > m.bounds.records {
		return false
	}
	m.fresh.add(m.taken, payload)
	m.taken += offsets
	return true
}

// compact adds up what was held, now that what came after it may have voided
// some, and holds what has come since.
func (m *memory) compact() {
	m.work.Lock()
	defer m.work.Unlock()
	m.mu.Lock()
	next, taken := m.fresh, m.taken
	m.fresh = chunk{}
	m.mu.Unlock()
	if len(m.held.frames) == 0 && len(next.frames) == 0 {
		return
	}
	voids := make(map[uint64]struct{})
	for _, c := range [...]*chunk{&m.held, &next} {
		for _, f := range c.voids {
			at, err := click.ParseVoid(c.payload(f))
			switch {
			case err != nil: // none that this process wrote
			case at >= m.seen:
				voids[at] = struct{}{}
			case c == &next:
				m.late.Add(1)
			}
		}
	}
	for _, f := range m.held.frames {
		m.add(f.at, m.held.payload(f), voids)
		m.pace.Rest()
	}
	m.held, m.seen = next, taken
	if len(next.frames) > 0 {
		m.seen = next.frames[0].at
	}
}

// add adds a payload up; a click for which there is no room is counted as lost.
func (m *memory) add(at uint64, payload []byte, voids map[uint64]struct{}) {
	kind := click.KindOf(payload)
	if kind == click.KindVoid {
		return
	}
	if m.sum == nil {
		m.sum = newAggregate(m.pace)
	}
	room := m.sum.bytes() < m.bounds.bytes || m.finish()
	if room {
		m.added++
	}
	if kind == click.KindOrphans {
		if c, err := click.ParseOrphans(payload); err == nil && room {
			m.sum.lost(c)
		}
		return
	}
	switch _, void := voids[at]; {
	case void:
		m.clicks.Add(-1)
	case !room:
		m.clicks.Add(-1)
		m.lost.Add(1)
	default:
		var r click.Record
		if words, err := r.Parse(payload); err == nil {
			m.sum.add(&r, words)
		}
	}
}

// finish makes a batch of what is added up; not ok if there is no room for it.
func (m *memory) finish() bool {
	if len(m.ready) >= m.bounds.stretches {
		return false
	}
	stretch := m.sum.stretch(m.region)
	stretch.Boot, stretch.To = m.boot, m.added
	m.ready = append(m.ready, batch{m.sum.encoder.Append(nil, stretch), m.added, m.sum.clicks})
	m.sum.reset()
	m.added = 0
	return true
}
