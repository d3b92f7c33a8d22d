package links

import (
	"context"
	"slices"
	"time"

	"waypost/shared/link"
)

// Version names one state of a link, as its ETag does.
type Version struct {
	Epoch uint64
	Seq   uint64 // link.Link's Version
}

// Patch changes the fields of a link that the input has. if match is not nil,
// the link must be in one of those versions.
//
// Errors: *link.InvalidError, ErrOwner, link.ErrNotFound, ErrDomain,
// link.ErrMismatch, link.ErrUnavailable.
func (s *Service) Patch(ctx context.Context, c Caller, key link.Key, in *Input, match []Version, ack Ack) (Written, error) {
	h, err := s.hosts(ctx)
	if err != nil {
		return Written{}, err
	}
	r := rules{caller: c, targets: h.targets, domain: h.domain(key.Domain)}
	f := in.fixed()
	var dry link.Link
	f = append(f, in.apply(&dry, r, time.Unix(0, 0))...)
	if err := f.err(); err != nil {
		return Written{}, err
	}
	if in.Owner.Set {
		if err := c.mayOwn(dry.Owner); err != nil {
			return Written{}, err
		}
	}
	written, err := s.writeOne(ctx, Mutation{Key: key, By: c.Key, Merge: func(old *link.Link, now time.Time) (*link.Link, error) {
		if err := changeable(old, c, match); err != nil {
			return nil, err
		}
		l := *old
		f := in.apply(&l, r, now)
		in.checkOrder(&f, &l, false, now)
		return &l, f.err()
	}}, ack)
	return written, s.missing(ctx, key, err)
}

// fixed faults the fields that a link keeps from its creation.
func (in *Input) fixed() faults {
	var f faults
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"alias", in.Alias.Set},
		{"domain", in.Domain.Set},
		{"code_kind", in.CodeKind.Set},
		{"reuse", in.Reuse.Set},
	} {
		if field.set {
			f.add(field.name, "cannot be changed")
		}
	}
	return f
}

// Delete removes a link; what stays is a tombstone. match is as in Patch.
//
// Errors: link.ErrNotFound, ErrDomain, link.ErrMismatch, link.ErrUnavailable.
func (s *Service) Delete(ctx context.Context, c Caller, key link.Key, match []Version, ack Ack) (Receipt, error) {
	written, err := s.writeOne(ctx, Mutation{Key: key, By: c.Key, Merge: func(old *link.Link, now time.Time) (*link.Link, error) {
		if err := changeable(old, c, match); err != nil {
			return nil, err
		}
		l := *old
		l.DeletedAt = now
		return &l, nil
	}}, ack)
	return written.Receipt, s.missing(ctx, key, err)
}

// changeable says whether there is a link for the caller to change, in one of
// the versions asked for.
func changeable(old *link.Link, c Caller, match []Version) error {
	switch {
	case old == nil, !old.DeletedAt.IsZero(), !c.sees(old):
		return link.ErrNotFound
	case match != nil && !slices.Contains(match, Version{Epoch: old.Epoch, Seq: old.Version}):
		return link.ErrMismatch
	}
	return nil
}
