package postgres

import (
	"fmt"
	"strings"

	"waypost/origin/internal/links"
)

// listing makes the statements that find the links of a filter in its order.
// There are three ways, and the planner is not asked which one is best: it knows
// too little of texts and of who has which links, and at a million links it may
// not guess wrong.
//
//   - direct: in their order, where an index has them and no others in it
//   - next: in their order, but only among the next so many links. It is short
//     where those that are asked for are many.
//   - all: all that are asked for, by the indexes of what they are asked for by,
//     and then put in order. It is short where they are few.
type listing struct {
	order  order
	filter links.Filter
	term   term
	grams  []string // those of the term that all goes by
	after  *cursor  // nil: from the start
}

// newListing reads the filter's cursor; the error is a *link.InvalidError.
func newListing(f links.Filter, t term) (*listing, error) {
	l := &listing{order: orderOf(f.Sort), filter: f, term: t, grams: t.grams}
	if f.Cursor != "" {
		c, err := parseCursor(f.Cursor, l.order)
		if err != nil {
			return nil, err
		}
		l.after = &c
	}
	return l, nil
}

// ordered reports whether an index has the links that are asked for, and no
// others, in their order: links_created, links_owner, links_domain or
// click_link_order.
func (l *listing) ordered() bool {
	if l.filter.Tag != "" || l.term.folded != "" {
		return false
	}
	owner, domain := l.filter.Owner != nil, l.filter.Domain != nil
	if l.order == mostClicked {
		return !owner && !domain
	}
	return !owner || !domain
}

// indexed reports whether indexes find the links that are asked for. A text of
// one or two letters they do not find: it is looked for in the order of links,
// as far as a page goes. But where that is the order of everybody's clicks, the
// place that an owner's page ends at would tell of links of others.
func (l *listing) indexed() bool {
	return l.term.folded == "" || len(l.term.grams) > 0 || l.filter.Tag != "" ||
		l.order == mostClicked && l.filter.Owner != nil
}

// direct is the first links, up to limit.
func (l *listing) direct(limit int) *query {
	q := l.query()
	from := "links l"
	if l.order == mostClicked {
		from = "click_link c JOIN links l USING (link_id)"
	}
	q.and("l.deleted_at IS NULL")
	q.andOwner(l.filter.Owner)
	q.andDomain(l.filter.Domain)
	q.andBehind(l.after)
	return q.read(from, everyRow, limit)
}

// next is the first links among the next n in the order, and then the n-th, if
// there are so many, unless limit links stand before it.
func (l *listing) next(n, limit int) *query {
	q := l.query()
	matches := l.matching(q)
	var from string
	if l.order == mostClicked {
		q.andBehind(l.after)
		// A deleted link keeps its clicks for a time, and its place here.
		from = fmt.Sprintf(`(SELECT c.link_id, c.clicks, row_number() OVER (%[1]s) AS place FROM click_link c
			WHERE %[2]s %[1]s LIMIT %[3]d) c LEFT JOIN links l USING (link_id)`, q.by(), q.conditions(), n)
		matches.and("l.deleted_at IS NULL")
	} else {
		q.and("l.deleted_at IS NULL")
		q.andOwner(l.filter.Owner)
		if l.filter.Owner == nil {
			q.andDomain(l.filter.Domain)
		}
		q.andBehind(l.after)
		from = fmt.Sprintf(`(SELECT l.*, row_number() OVER (%[1]s) AS place FROM links l
			WHERE %[2]s %[1]s LIMIT %[3]d) l`, q.by(), q.conditions(), n)
	}
	asked := "coalesce(" + matches.conditions() + ", false)"
	last := fmt.Sprintf("l.place = %d", n)
	if l.order == mostClicked {
		last = fmt.Sprintf("c.place = %d", n)
	}
	q.where = []string{"(" + asked + " OR " + last + ")"}
	return q.read(from, asked+", "+last, limit)
}

// everyRow says of a statement's rows that each is a link that is asked for, and
// none the last one that was looked at.
const everyRow = "true, false"

// all is the first links, up to limit, of all that are asked for.
func (l *listing) all(limit int) *query {
	q := l.query()
	q.and("l.deleted_at IS NULL")
	q.andOwner(l.filter.Owner)
	q.andDomain(l.filter.Domain)
	q.andTag(l.filter.Tag)
	for _, gram := range l.grams {
		q.and("l.search LIKE %s", pattern(gram))
	}
	if l.order != mostClicked {
		q.andBehind(l.after)
	}
	// OFFSET 0 keeps the planner from looking for them in their order.
	from := fmt.Sprintf("(SELECT l.* FROM links l WHERE %s OFFSET 0) l", q.conditions())
	q.where = nil
	if l.order == mostClicked {
		from += " CROSS JOIN LATERAL (SELECT link_id, clicks FROM click_link WHERE link_id = l.link_id OFFSET 0) c"
		q.andBehind(l.after)
	}
	q.andText(l.term.folded)
	return q.read(from, everyRow, limit)
}

// matching are all conditions but the place in the order, with their values in q.
func (l *listing) matching(q *query) *query {
	m := &query{order: q.order, args: q.args}
	m.andOwner(l.filter.Owner)
	m.andDomain(l.filter.Domain)
	m.andTag(l.filter.Tag)
	m.andText(l.term.folded)
	q.args = m.args
	return m
}

func (l *listing) query() *query { return &query{order: l.order} }

// pattern makes a text that may stand anywhere into a LIKE pattern.
func pattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}
