package clicks

import (
	"math"
	"slices"

	"waypost/shared/click"
)

// parcel is what is sent at once: the bytes of a stretch.
type parcel struct {
	bytes    []byte
	from, to uint64 // the same: a question for the mark, or nothing but the end of the log
	clicks   uint64
	first    int64  // time of the first click, microseconds since 1970; 0: none, or not known
	last     bool   // says that the log ends at to
	full     bool   // there is more where it came from
	fails    int    // sends that were in vain
	least    bool   // there is no shorter one
	missing  uint64 // bytes of the log between from and to that are gone
}

// more says that there is something to send right after it.
func (p *parcel) more() bool { return p != nil && (p.full || p.from == p.to && !p.last) }

// Bounds of a stretch. One that is stored is bounded by its bytes alone.
const (
	stretchBytes  = 3 << 20
	stretchClicks = 500_000
	leastBytes    = 64 << 10 // what is not longer is not made shorter, however often it is not answered
)

// tries is how often a stretch is sent before a shorter one takes its place, in
// case it is its length that does not get through.
const tries = 2

// most bounds a stretch: clicks, 0 for any number, and about so many bytes.
type most struct {
	clicks uint64
	bytes  int
}

// seal puts boot and bounds to what was added up.
func seal(src *source, from, to uint64, stretch *click.Stretch, last bool) *parcel {
	return sealBy(new(click.Encoder), src, from, to, stretch, last)
}

func sealBy(encoder *click.Encoder, src *source, from, to uint64, stretch *click.Stretch, last bool) *parcel {
	stretch.Boot, stretch.From, stretch.To, stretch.Last = src.boot, from, to, last
	if stretch.Region == "" {
		stretch.Region = src.region
	}
	return &parcel{bytes: encoder.Append(nil, stretch), from: from, to: to, clicks: stretch.Clicks(), last: last}
}

// next is what is to be sent of a source, nil if there is nothing.
func (s *shipper) next(src *source, limit uint64) (*parcel, error) {
	if err := s.settle(src); err != nil {
		return nil, err
	}
	if src.held != nil {
		limit = min(limit, src.held.from)
	}
	switch {
	case !src.known || src.doubt:
		return src.question(), nil
	case src.held != nil && src.mark >= src.held.from:
		return s.void(src), nil
	case len(src.stored) > 0:
		return s.shelved(src)
	case src.sent != nil && !s.tooLong(src):
		return src.sent, nil
	case src.mark < limit:
		return s.pack(src, limit)
	case !src.last && src.complete(src.mark):
		// Also where the log is shorter than the mark, after a loss of power.
		return seal(src, src.mark, src.mark, &click.Stretch{}, true), nil
	default:
		src.first = 0
		return nil, nil
	}
}

// pack adds up the log from the mark on; less of it than was sent in vain, or
// the same once more where it has no less.
func (s *shipper) pack(src *source, limit uint64) (*parcel, error) {
	bound := most{clicks: stretchClicks, bytes: s.bytes}
	long := src.sent
	if long != nil {
		bound.bytes, limit = min(bound.bytes, len(long.bytes)/2), long.to
	}
	p, err := s.add(src, src.mark, limit, bound)
	switch {
	case err != nil || p.to == p.from:
		return nil, err
	case long != nil && p.to >= long.to:
		long.least = true
		return long, nil
	case long != nil:
		long.bytes = nil
		src.longer = slices.Insert(src.longer, 0, long)
		src.refusals.again()
	}
	src.sent, src.first = p, p.first
	return p, nil
}

// add adds up the log of a source from an offset to a limit or a bound. Where
// the log's beginning is gone although the origin has not got it (a database
// restored from a copy), the stretch holds what there is: else the log would
// never go on.
func (s *shipper) add(src *source, from, limit uint64, bound most) (*parcel, error) {
	start, ahead := max(from, src.log.Start()), src.ahead
	if start > from {
		ahead = math.MaxUint64 // what was seen of the voids is not known
	}
	for {
		done, err := s.builder.build(src.log, start, limit, ahead, bound)
		if err != nil {
			return nil, err
		}
		sum := s.builder.sum
		p := sealBy(&sum.encoder, src, from, done.to, sum.stretch(src.region), src.complete(done.to))
		if len(p.bytes) > click.MaxStretch { // takes more than such clicks usually do
			bound.bytes /= 2
			continue
		}
		s.stats.late.Add(done.late)
		s.stats.unreadable.Add(done.unreadable)
		src.ahead = done.seen
		p.first, p.full, p.missing = done.first, done.full, start-from
		return p, nil
	}
}
