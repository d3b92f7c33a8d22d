package clicks

import (
	"errors"
	"time"

	"waypost/shared/click"
)

// shelved makes a parcel of the first stored stretch.
func (s *shipper) shelved(src *source) (*parcel, error) {
	head := &src.stored[0]
	head.pinned = true
	stretch, err := s.shelf.read(*head)
	if err != nil && !errors.Is(err, errDamaged) && !head.outlasts(s.now()) {
		return nil, err
	}
	switch {
	case err != nil || src.mark > head.from:
		// Nothing here leads to a mark within. Rather a part missing than one
		// counted twice.
		stretch, head.missing = &click.Stretch{}, head.to-src.mark
		head.aside, head.why = true, err
	default:
		head.missing = head.from - src.mark
	}
	p := seal(src, src.mark, head.to, stretch, stretch.Last)
	p.first, p.full = head.first, true
	if p.first == 0 {
		p.first = firstHour(stretch)
	}
	if !head.aside { // else what is known of it from when it was stored
		head.clicks = p.clicks
	}
	src.first = p.first
	return p, nil
}

// unreadFor is for how long a stored stretch may be unreadable, for another reason
// than what the file holds, before the log goes on without it.
const unreadFor = time.Minute

// outlasts says that the stretch could not be read for so long.
func (p *stored) outlasts(now time.Time) bool {
	if p.unread.IsZero() {
		p.unread = now
	}
	return now.Sub(p.unread) >= unreadFor
}

// unshelve removes the stored stretches that the origin has, before anything
// that comes after them is sent: so where there is a stored stretch, nothing
// beyond it has ever been. Those of which it has a part at most go into quarantine.
func (s *shipper) unshelve(src *source) error {
	for src.known && len(src.stored) > 0 && src.stored[0].to <= src.mark {
		head := src.stored[0]
		var err error
		if head.aside {
			err = s.quarantine.take(s.shelf.path(head), head.why)
		} else {
			err = s.shelf.remove(head)
		}
		if err != nil {
			return err
		}
		switch {
		case head.aside:
			s.stats.damaged.Add(head.clicks)
		case !src.holds(head): // what is held was counted when it was refused
			s.stats.shipped.Add(head.clicks)
		}
		s.stats.missing.Add(head.missing)
		src.stored = src.stored[1:]
	}
	return nil
}

// firstHour is when the first hour of a stretch begins, microseconds since 1970.
func firstHour(s *click.Stretch) (first int64) {
	for i := range s.Links {
		if at := click.HourStart(s.Links[i].Hours[0].Hour); first == 0 || at < first {
			first = at
		}
	}
	return first
}
