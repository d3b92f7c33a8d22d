package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

const (
	maxPage = 100 // links

	// nearLinks is how many links in their order are looked at for those that are
	// asked for, before they are looked up by what they are asked for by, and
	// farLinks the same where a sample has some of them, so that they are many.
	nearLinks, farLinks = 1_000, 8_000
	// onlyLinks is the same where there is nothing to look them up by.
	onlyLinks = 5_000
)

// reach is these numbers, or less in tests.
type reach struct{ near, far, only int }

// List reads one page of links. Pages follow (created_at, link_id), so a link
// that is made, changed or deleted meanwhile moves no other one to another page.
// By clicks they follow (clicks, link_id) as these are when a page is read: no
// link stands on two pages, unless its clicks were erased; one that is clicked
// until it has more than the last page's last one is passed over.
//
// A search for one or two letters looks at the next 5,000 links of the
// list only, unless the filter has something else to find links by: its page can
// be short, or empty, and still have a next one.
//
// A cursor that this method did not make, or made for another sort, is an
// *link.InvalidError. A search that takes longer than the statement timeout is
// link.ErrUnavailable.
func (s *Store) List(ctx context.Context, f links.Filter) (links.Page, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	limit := min(max(f.Limit, 1), maxPage)
	found, err := s.list(ctx, f, limit+1)
	if err != nil {
		return links.Page{}, err
	}
	page := links.Page{Links: make([]link.Link, 0, limit)}
	for _, l := range found.links[:min(len(found.links), limit)] {
		page.Links = append(page.Links, l.Link)
	}
	switch {
	case len(found.links) > limit:
		page.Next = found.links[limit-1].place(orderOf(f.Sort)).text()
	case found.end != nil:
		page.Next = found.end.text()
	}
	return page, nil
}

// found is what one way led to.
type found struct {
	links []listed
	end   *cursor // the last place that was looked at; nil: all were
}

// list reads the first links behind the filter's cursor, up to limit.
func (s *Store) list(ctx context.Context, f links.Filter, limit int) (found, error) {
	t, err := s.termOf(ctx, f.Search)
	if err != nil {
		return found{}, err
	}
	l, err := newListing(f, t)
	if err != nil {
		return found{}, err
	}
	switch {
	case l.ordered():
		return s.listBy(ctx, l.direct(limit))
	case !l.indexed():
		return s.listBy(ctx, l.next(s.reach.only, limit))
	}
	next, err := s.listBy(ctx, l.next(s.reach.near, limit))
	if err != nil || next.complete(limit) {
		return next, err
	}
	many, err := s.sample(ctx, l)
	if err != nil {
		return found{}, err
	}
	if many {
		next, err = s.listBy(ctx, l.next(s.reach.far, limit))
		if err != nil || next.complete(limit) {
			return next, err
		}
	}
	return s.listBy(ctx, l.all(limit))
}

// complete reports whether there is nothing to add.
func (f *found) complete(limit int) bool { return f.end == nil || len(f.links) == limit }

// listBy carries out one of a listing's statements.
func (s *Store) listBy(ctx context.Context, q *query) (found, error) {
	// Planned each time, for its very values: which index is best depends on them.
	rows, err := s.pool.Query(ctx, q.text, append([]any{pgx.QueryExecModeCacheDescribe}, q.args...)...)
	if err != nil {
		return found{}, translate("list", err)
	}
	all, err := pgx.CollectRows(rows, scanListed)
	if err != nil {
		return found{}, translate("list", err)
	}
	var f found
	if n := len(all); n > 0 && all[n-1].last {
		end := all[n-1].place(q.order)
		f.end = &end
		if !all[n-1].asked {
			all = all[:n-1]
		}
	}
	f.links = all
	return f, nil
}

// listed is a row of a list: a place in it, with the link that has it.
type listed struct {
	link.Link
	clicks int64 // that it is listed by, if it is
	asked  bool  // the link is one that is asked for
	last   bool  // nothing was looked at beyond it
}

func scanListed(row pgx.CollectableRow) (listed, error) {
	var l listed
	var epoch, id int64
	var r linkRow
	err := row.Scan(append([]any{&epoch, &id, &l.clicks, &l.asked, &l.last}, r.dest()...)...)
	l.Link = r.link(unsigned(epoch))
	l.ID = id // also where there is no such link any more
	return l, err
}

func (l *listed) place(o order) cursor {
	c := cursor{order: o, key: l.CreatedAt.UnixMicro(), id: l.ID}
	if o == mostClicked {
		c.key = l.clicks
	}
	return c
}
