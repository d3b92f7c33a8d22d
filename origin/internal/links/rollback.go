package links

import (
	"context"
	"fmt"
	"time"

	"waypost/shared/link"
)

// maxBack is how many entries a rollback takes back at most. A store keeps a
// thousand of a history, and for some time more.
const maxBack = 2000

// Rollback gives a link the content that it had in one of the versions of its
// history, all of it that can be changed. It is a change like others: it makes
// a new version and is held against the rules of today. match is as in Patch.
//
// The versions are those of entries that History shows the caller, but
// deletions. Errors: *link.InvalidError, of version where there is no such
// entry, or of the field that would be refused today; link.ErrNotFound,
// ErrDomain, link.ErrMismatch, link.ErrUnavailable.
func (s *Service) Rollback(ctx context.Context, c Caller, key link.Key, version uint64, match []Version, ack Ack) (Written, error) {
	past, err := s.past(ctx, c, key, Window{From: version, Limit: maxBack})
	if err != nil {
		return Written{}, err
	}
	if !past.Link.DeletedAt.IsZero() {
		return Written{}, link.ErrNotFound
	}
	content, err := past.at(version, c)
	if err != nil {
		return Written{}, err
	}
	h, err := s.hosts(ctx)
	if err != nil {
		return Written{}, err
	}
	in, r := content.input(), rules{caller: c, targets: h.targets, domain: h.domain(key.Domain)}
	written, err := s.writeOne(ctx, Mutation{
		Key: key, By: c.Key, Rollback: true,
		Merge: func(old *link.Link, now time.Time) (*link.Link, error) {
			if err := changeable(old, c, match); err != nil {
				return nil, err
			}
			l := *old
			f := in.apply(&l, r, now)
			in.checkOrder(&f, &l, false, now)
			return &l, f.err()
		},
	}, ack)
	return written, s.missing(ctx, key, err)
}

// at is the content in a version: that of today, with everything taken back
// that was written since. So it takes no more than the entries from that version
// on, each of which must follow the one before. They would not where an origin
// of a release that knew no history wrote in between.
func (p *Past) at(version uint64, c Caller) (*Content, error) {
	none := faults{{Field: "version", Reason: "is not one that the link's history has to roll back to"}}.err()
	content := contentOf(&p.Link)
	expected := p.Link.Version
	for i := range p.Entries {
		e := &p.Entries[i]
		switch {
		case e.Version != expected:
			return nil, none
		case e.Version != version:
		case e.Action == ActionDelete, c.Owner != "" && e.Owner != c.Owner:
			return nil, none
		default:
			return &content, nil
		}
		if err := content.revert(e.Changes); err != nil {
			return nil, fmt.Errorf("version %d of %s: %w", e.Version, p.Link.Key, err)
		}
		expected = e.Previous
	}
	return nil, none
}
