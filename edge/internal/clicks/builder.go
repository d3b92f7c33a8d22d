package clicks

import (
	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
	"waypost/shared/pace"
)

// builder adds up records of a log. It reads a chunk ahead of what it adds, to
// know the voids of a click before it counts it. Not safe for concurrent use.
type builder struct {
	pace      *pace.Pace
	sum       *aggregate
	click     click.Record // that is added up: kept, as it is large
	now, next chunk
	voids     map[uint64]struct{}
	voided    func(at uint64) bool // voids that the spool did not take
}

func newBuilder(voided func(at uint64) bool) *builder {
	p := pace.New()
	return &builder{pace: p, sum: newAggregate(p), voids: make(map[uint64]struct{}), voided: voided}
}

// built says what was added up.
type built struct {
	from       uint64
	to         uint64 // offset of the first frame that was not
	seen       uint64 // offset up to which voids were looked for
	first      int64  // time of the first click, microseconds since 1970; 0: there is none
	full       bool   // a bound ended it, not the limit
	late       uint64 // voids that came after their click had been added up
	unreadable uint64 // records
}

// build adds up the records from an offset of a log to a limit, until a bound is
// reached, but at least one. ahead is the seen of what was built of this log up to from, or
// 2^64-1 where that is not known.
func (b *builder) build(log *spool.Log, from, limit, ahead uint64, bound most) (built, error) {
	b.sum.reset()
	clear(b.voids)
	done := built{from: from, to: from, seen: from}
	if err := b.now.read(log, from, b.pace); err != nil {
		return done, err
	}
	done.late = b.note(&b.now, from, ahead)
	for b.now.end > done.to && !done.full && done.to < limit {
		if err := b.next.read(log, b.now.end, b.pace); err != nil {
			return done, err
		}
		done.late += b.note(&b.next, from, ahead)
		done.seen = b.next.end
		b.add(&done, limit, bound)
		b.now, b.next = b.next, b.now
	}
	return done, nil
}

// note keeps the voids of a chunk and counts those that come too late.
func (b *builder) note(c *chunk, from, ahead uint64) (late uint64) {
	for _, f := range c.voids {
		switch at, err := click.ParseVoid(c.payload(f)); {
		case err != nil:
		case at >= from:
			b.voids[at] = struct{}{}
		case f.at >= ahead:
			late++
		}
	}
	return late
}

// add adds up the chunk that is held.
func (b *builder) add(done *built, limit uint64, bound most) {
	for _, f := range b.now.frames {
		done.to = f.at
		if f.at >= limit {
			return
		}
		full := b.sum.bytes() >= bound.bytes || bound.clicks > 0 && b.sum.clicks >= bound.clicks
		if full && f.at > done.from { // a stretch of nothing would lead nowhere
			done.full = true
			return
		}
		b.record(done, f.at, b.now.payload(f))
		b.pace.Rest()
	}
	done.to = b.now.end
}

func (b *builder) record(done *built, at uint64, payload []byte) {
	switch click.KindOf(payload) {
	case click.KindClick:
		waits := b.voided != nil && b.voided(at) // which is to know that it was heard
		if _, written := b.voids[at]; waits || written {
			return
		}
		r := &b.click
		words, err := r.Parse(payload)
		if err != nil {
			done.unreadable++
			return
		}
		if done.first == 0 {
			done.first = r.At
		}
		b.sum.add(r, words)
	case click.KindOrphans:
		c, err := click.ParseOrphans(payload)
		if err != nil {
			done.unreadable++
			return
		}
		b.sum.lost(c)
	case click.KindVoid:
	default:
		done.unreadable++
	}
}
