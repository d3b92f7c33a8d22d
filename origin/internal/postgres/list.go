package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// maxPage is the most links of one page.
const maxPage = 100

// List reads one page of links. Pages follow (created_at, link_id), so a link
// that is made, changed or deleted meanwhile moves no other one to another page.
// By clicks they follow (clicks, link_id) as these are when a page is read: no
// link stands on two pages, unless its clicks were erased; one that is clicked
// until it has more than the last page's last one is passed over.
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
	for _, l := range found[:min(len(found), limit)] {
		page.Links = append(page.Links, l.Link)
	}
	if len(found) > limit {
		page.Next = found[limit-1].place(orderOf(f.Sort)).text()
	}
	return page, nil
}

// list reads the first links behind the filter's cursor, up to limit.
func (s *Store) list(ctx context.Context, f links.Filter, limit int) ([]listed, error) {
	ways := []way{direct}
	if orderOf(f.Sort) == mostClicked && (f.Owner != nil || f.Tag != "") {
		ways = []way{ofMany, ofFew}
	}
	var found []listed
	for _, w := range ways {
		statement, args, err := listStatement(f, w, limit)
		if err != nil {
			return nil, err
		}
		rows, err := s.pool.Query(ctx, statement, args...)
		if err != nil {
			return nil, translate("list", err)
		}
		if found, err = pgx.CollectRows(rows, scanListed); err != nil {
			return nil, translate("list", err)
		}
		if len(found) == limit {
			break
		}
	}
	return found, nil
}

// way is how links are found. By clicks there are three: in their order, in
// their order but only among the next candidates, and all that the filter leaves.
type way byte

const (
	direct way = iota
	ofMany
	ofFew
)

// listStatement is what reads the first links behind the filter's cursor.
func listStatement(f links.Filter, w way, limit int) (statement string, args []any, err error) {
	o := orderOf(f.Sort)
	q := query{where: []string{"l.deleted_at IS NULL"}}
	if f.Owner != nil {
		q.and("l.owner = %s", *f.Owner)
	}
	if f.Domain != nil {
		q.and("l.domain = %s", *f.Domain)
	}
	if f.Tag != "" {
		q.and("l.tags @> %s", []string{f.Tag})
	}
	if f.Search != "" {
		pattern := "%" + likeEscaper().Replace(f.Search) + "%"
		// Case as Unicode has it, whatever the collation of a column or the locale of
		// the database: codes sort by bytes, and under that only ASCII has cases.
		q.and(`(l.code COLLATE "und-x-icu" ILIKE %[1]s OR l.target COLLATE "und-x-icu" ILIKE %[1]s
			OR l.title COLLATE "und-x-icu" ILIKE %[1]s)`, pattern)
	}
	key, clicks, direction, beyond := "l.created_at", "0::bigint", "DESC", "<"
	switch o {
	case oldestFirst:
		direction, beyond = "ASC", ">"
	case mostClicked:
		key, clicks = "c.clicks", "c.clicks"
	case newestFirst:
	}
	behind := "true"
	if f.Cursor != "" {
		c, err := parseCursor(f.Cursor, o)
		if err != nil {
			return "", nil, err
		}
		behind = q.condition("("+key+", "+o.id()+") "+beyond+" (%s, %s)", c.value(), c.id)
	}
	return fmt.Sprintf(`SELECT e.n, %s, %s FROM epoch e CROSS JOIN %s WHERE %s AND %s ORDER BY %s %[7]s, %[8]s %[7]s LIMIT %[9]d`,
		clicks, linkColumns, from(o, w, behind), strings.Join(q.where, " AND "), behind, key, direction, o.id(), limit), q.args, nil
}

// id is the column of the ids that break ties of the order, from the table that
// has its keys.
func (o order) id() string {
	if o == mostClicked {
		return "c.link_id"
	}
	return "l.link_id"
}

// from are the tables of a list in some order, found in some way; behind is the
// condition that its cursor sets.
func from(o order, w way, behind string) string {
	switch {
	case o != mostClicked:
		return "links l"
	case w == ofMany:
		return fmt.Sprintf(`(SELECT c.link_id, c.clicks FROM click_link c WHERE %s
			ORDER BY c.clicks DESC, c.link_id DESC LIMIT %d) c JOIN links l USING (link_id)`, behind, candidates)
	case w == ofFew:
		return `links l CROSS JOIN LATERAL (SELECT link_id, clicks FROM click_link WHERE link_id = l.link_id OFFSET 0) c`
	default:
		return "click_link c JOIN links l USING (link_id)"
	}
}

// listed is a link with the clicks that it is listed by, if it is.
type listed struct {
	link.Link
	clicks int64
}

func scanListed(row pgx.CollectableRow) (listed, error) {
	var l listed
	var epoch int64
	var r linkRow
	err := row.Scan(append([]any{&epoch, &l.clicks}, r.dest()...)...)
	l.Link = r.link(unsigned(epoch))
	return l, err
}

func (l *listed) place(o order) cursor {
	c := cursor{order: o, key: l.CreatedAt.UnixMicro(), id: l.ID}
	if o == mostClicked {
		c.key = l.clicks
	}
	return c
}

// query collects the conditions of a statement and their values.
type query struct {
	where []string
	args  []any
}

// and adds a condition; its verbs stand for the values' placeholders.
func (q *query) and(condition string, values ...any) {
	q.where = append(q.where, q.condition(condition, values...))
}

// condition is for a condition that is to stand elsewhere.
func (q *query) condition(condition string, values ...any) string {
	placeholders := make([]any, len(values))
	for i, v := range values {
		q.args = append(q.args, v)
		placeholders[i] = fmt.Sprintf("$%d", len(q.args))
	}
	return fmt.Sprintf(condition, placeholders...)
}

// likeEscaper makes a text stand for itself in a LIKE pattern.
func likeEscaper() *strings.Replacer { return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`) }
