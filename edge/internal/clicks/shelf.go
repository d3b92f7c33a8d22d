package clicks

import (
	"errors"

	"waypost/shared/click"
)

// shelved makes a parcel of the first stored stretch.
func (s *shipper) shelved(src *source) (*parcel, error) {
	head := &src.stored[0]
	head.pinned = true
	stretch, err := s.shelf.read(*head)
	switch {
	case err != nil && !errors.Is(err, errDamaged):
		return nil, err
	case err != nil || src.mark > head.from:
		// Nothing here leads to a mark within. Rather a part missing than one
		// counted twice.
		stretch, head.missing = &click.Stretch{}, head.to-src.mark
	default:
		head.missing = head.from - src.mark
	}
	p := seal(src, src.mark, head.to, stretch, stretch.Last)
	p.first, p.full = head.first, true
	if p.first == 0 {
		p.first = firstHour(stretch)
	}
	head.clicks, src.first = p.clicks, p.first
	return p, nil
}

// unshelve removes the stored stretches that the origin has, before anything
// that comes after them is sent: so where there is a stored stretch, nothing
// beyond it has ever been.
func (s *shipper) unshelve(src *source) error {
	for src.known && len(src.stored) > 0 && src.stored[0].to <= src.mark {
		if err := s.shelf.remove(src.stored[0]); err != nil {
			return err
		}
		s.stats.shipped.Add(src.stored[0].clicks)
		s.stats.missing.Add(src.stored[0].missing)
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
