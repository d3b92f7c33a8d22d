package clicks

import (
	"context"
	"slices"
)

// answered goes on from the origin's mark, whatever was thought before.
func (s *shipper) answered(src *source, p *parcel, mark uint64) error {
	moved := p.from < p.to && mark == p.to
	if moved {
		s.stats.stretches.Add(1)
	}
	if mark != src.mark || !src.known {
		for _, sent := range src.unanswered() {
			if mark == sent.to {
				s.stats.shipped.Add(sent.clicks)
				s.stats.missing.Add(sent.missing)
				moved = true
			}
		}
		src.sent, src.longer = nil, nil
		src.refusals.again()
		src.mine = moved // else somebody else has moved it, or a restore
	}
	src.mark, src.known, src.doubt = mark, true, false
	src.last = src.last || p.last && mark >= p.to
	if src.log != nil {
		// A segment that cannot be removed does no harm, and the next answer tries again.
		_ = src.log.Drop(mark)
	}
	if src.own {
		s.stats.late.Add(s.voids.forget(mark))
	}
	if p.from < p.to && mark == p.from {
		return errNotMoved
	}
	if src.log == nil || mark >= src.log.End() {
		src.first = 0
	}
	return s.settle(src)
}

// settle does what was left to do until the mark had passed.
func (s *shipper) settle(src *source) error {
	if err := s.unshelve(src); err != nil {
		return err
	}
	return s.release(src)
}

// finish forgets a log that the origin has, and removes what is left of it.
func (s *shipper) finish(ctx context.Context, src *source) {
	if !src.finished() {
		return
	}
	if src.log != nil {
		if err := src.log.Remove(); err != nil {
			s.removing.saw(ctx, err)
			return
		}
	}
	s.sources = slices.DeleteFunc(s.sources, func(other *source) bool { return other == src })
}
