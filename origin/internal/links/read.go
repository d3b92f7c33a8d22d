package links

import (
	"context"
	"fmt"
	"unicode/utf8"

	"waypost/shared/link"
)

// The bounds of a list.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	maxSearch    = 256 // characters
	maxCursor    = 512 // bytes
)

// Get returns a link. Errors: link.ErrNotFound, ErrDomain, link.ErrUnavailable.
func (s *Service) Get(ctx context.Context, c Caller, key link.Key) (link.Link, error) {
	l, err := s.store.Link(ctx, key)
	if err != nil {
		return link.Link{}, s.missing(ctx, key, err)
	}
	if !c.sees(&l) {
		return link.Link{}, link.ErrNotFound
	}
	return l, nil
}

// List returns a page of the links that the caller sees. Another owner's links
// are not refused to a confined caller, there are just none. Errors:
// *link.InvalidError, link.ErrUnavailable.
func (s *Service) List(ctx context.Context, c Caller, filter Filter) (Page, error) {
	if err := filter.check(); err != nil {
		return Page{}, err
	}
	if filter.Domain != nil {
		h, err := s.hosts(ctx)
		if err != nil {
			return Page{}, err
		}
		if _, err := h.parseDomain(*filter.Domain); err != nil {
			return Page{}, faults{{Field: "domain", Reason: err.Error()}}.err()
		}
	}
	if c.Owner != "" {
		if filter.Owner != nil && *filter.Owner != c.Owner {
			return Page{}, nil
		}
		filter.Owner = &c.Owner
	}
	return s.store.List(ctx, filter)
}

// check holds the filter against its bounds and brings its domain into the form
// that domains are compared in.
func (f *Filter) check() error {
	var all faults
	text := func(field, s string, most int) {
		if _, err := parseText(s, most); err != nil {
			all.add(field, err.Error())
		}
	}
	if f.Owner != nil {
		text("owner", *f.Owner, link.MaxOwner)
	}
	if f.Domain != nil && *f.Domain != "" {
		domain, err := link.ParseDomain(*f.Domain)
		if err != nil {
			all.add("domain", err.Error())
		}
		f.Domain = &domain
	}
	text("tag", f.Tag, link.MaxTag)
	text("q", f.Search, maxSearch)
	if f.Sort != "" && f.Sort != "created_at" && f.Sort != "-created_at" && f.Sort != "clicks" {
		all.add("sort", "must be created_at, -created_at or clicks")
	}
	if f.Limit < 1 || f.Limit > MaxLimit {
		all.add("limit", fmt.Sprintf("must be from 1 to %d", MaxLimit))
	}
	if len(f.Cursor) > maxCursor || !utf8.ValidString(f.Cursor) {
		all.add("cursor", "is not one that a list gave")
	}
	return all.err()
}
