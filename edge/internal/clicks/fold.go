package clicks

import (
	"errors"
	"time"

	"waypost/shared/click"
)

// fold makes room on disk, if the logs take more than the budget: it puts
// stretches of the oldest log into files of their own, where a click takes some
// tens of bytes less or, on links with many, next to none, and drops their
// segments. Nothing is lost by it. The bounds of what was once sent are kept: a
// stretch that was not answered is stored as it was sent, and only what comes
// after it is added up anew.
func (s *shipper) fold(now time.Time) error {
	for s.disk() > s.budget {
		folded, err := s.foldOldest(now)
		if err != nil || !folded {
			return err
		}
	}
	return nil
}

func (s *shipper) foldOldest(now time.Time) (folded bool, err error) {
	for _, src := range s.sources {
		limit := src.limit(now, grace)
		if !s.foldable(src, limit) {
			continue
		}
		if err := s.setAside(src); err != nil {
			return false, err
		}
		return s.foldOne(src, limit)
	}
	return false, nil
}

// foldable says that nobody can have sent anything that begins in what is to be
// folded: nobody but this process has ever known a mark there, or a stored
// stretch before it still waits. And that it is worth it.
func (s *shipper) foldable(src *source, limit uint64) bool {
	if src.log == nil || !src.mine && len(src.stored) == 0 {
		return false
	}
	from := src.tail()
	for _, sent := range src.unanswered() {
		from = max(from, sent.to)
	}
	return from < limit && (src.log.Closed() || limit-from >= uint64(s.foldBytes())) //nolint:gosec // above 0
}

// foldBytes is how much of a log that still grows has to be there to be folded.
func (s *shipper) foldBytes() int64 { return min(1<<20, s.budget/8) }

// setAside stores the stretch that was sent and not answered.
func (s *shipper) setAside(src *source) error {
	if src.sent == nil {
		return nil
	}
	p := stored{
		boot: src.boot, from: src.sent.from, to: src.sent.to,
		clicks: src.sent.clicks, missing: src.sent.missing, first: src.sent.first, pinned: true,
	}
	p, err := s.shelf.put(p, src.sent.bytes)
	if err != nil {
		return err
	}
	src.stored, src.sent = append(src.stored, p), nil
	return nil
}

// foldOne stores one stretch of a log, together with the one stored before it
// where neither has a bound to keep and both fit.
func (s *shipper) foldOne(src *source, limit uint64) (folded bool, err error) {
	from, pinned := src.tail(), false
	if at, ok := src.bound(from); ok {
		limit, pinned = at, true
	}
	added, err := s.add(src, from, limit, most{bytes: stretchBytes})
	if err != nil || added.to == from {
		return false, err
	}
	p := stored{boot: src.boot, from: added.from, to: added.to, clicks: added.clicks, first: added.first, pinned: pinned}
	bytes := added.bytes
	n := len(src.stored)
	merged := n > 0 && !src.stored[n-1].pinned && !pinned
	if merged {
		if bytes, merged, err = s.merge(src.stored[n-1], added.bytes); err != nil {
			return false, err
		}
	}
	if merged {
		before := src.stored[n-1]
		p.from, p.clicks, p.first = before.from, before.clicks+p.clicks, before.first
	}
	if p, err = s.shelf.put(p, bytes); err != nil {
		return false, err
	}
	s.stats.folded.Add(added.clicks)
	s.stats.missing.Add(added.missing)
	if !merged {
		src.stored = append(src.stored, p)
		return true, src.drop(p.to)
	}
	before := src.stored[n-1]
	src.stored[n-1] = p
	return true, errors.Join(s.shelf.remove(before), src.drop(p.to))
}

// merge puts a stretch to a stored one; not ok if they are too long together.
func (s *shipper) merge(before stored, next []byte) (bytes []byte, ok bool, err error) {
	if before.bytes+int64(len(next)) > stretchBytes {
		return next, false, nil
	}
	stretch, err := s.shelf.read(before)
	if err != nil {
		return next, false, nil //nolint:nilerr // whoever ships it will tell
	}
	added, err := click.ParseStretch(next)
	if err != nil {
		return nil, false, err
	}
	if err := stretch.Merge(added); err != nil {
		return nil, false, err
	}
	return stretch.Append(nil), true, nil
}

// drop gives up the segments of what is stored up to an offset.
func (s *source) drop(upTo uint64) error {
	if s.complete(upTo) {
		if err := s.log.Remove(); err != nil {
			return err
		}
		s.log = nil
		return nil
	}
	return s.log.Drop(upTo)
}

// disk is what logs and stored stretches take, in bytes.
func (s *shipper) disk() (n int64) {
	for _, src := range s.sources {
		n += src.bytes()
	}
	return n
}
