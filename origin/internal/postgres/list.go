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
// that is made, changed or deleted meanwhile moves no other one to another
// page. A cursor that this method did not make, or made for another sort, is an
// *link.InvalidError. A search that takes longer than the statement timeout is
// link.ErrUnavailable.
func (s *Store) List(ctx context.Context, f links.Filter) (links.Page, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	limit := min(max(f.Limit, 1), maxPage)
	oldest := f.Sort == "created_at"
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
	order, beyond := "DESC", "<"
	if oldest {
		order, beyond = "ASC", ">"
	}
	if f.Cursor != "" {
		c, err := parseCursor(f.Cursor, oldest)
		if err != nil {
			return links.Page{}, err
		}
		q.and("(l.created_at, l.link_id) "+beyond+" (%s, %s)", c.created, c.id)
	}
	rows, err := s.pool.Query(ctx, fmt.Sprintf(`SELECT e.n, %s FROM epoch e, links l WHERE %s
		ORDER BY l.created_at %[3]s, l.link_id %[3]s LIMIT %[4]d`,
		linkColumns, strings.Join(q.where, " AND "), order, limit+1), q.args...)
	if err != nil {
		return links.Page{}, translate("list", err)
	}
	found, err := collectLinks(rows)
	if err != nil {
		return links.Page{}, translate("list", err)
	}
	page := links.Page{Links: found}
	if len(found) > limit {
		page.Links = found[:limit]
		last := page.Links[limit-1]
		page.Next = cursor{created: last.CreatedAt, id: last.ID}.text(oldest)
	}
	return page, nil
}

// query collects the conditions of a statement and their values.
type query struct {
	where []string
	args  []any
}

// and adds a condition; its verbs stand for the values' placeholders.
func (q *query) and(condition string, values ...any) {
	placeholders := make([]any, len(values))
	for i, v := range values {
		q.args = append(q.args, v)
		placeholders[i] = fmt.Sprintf("$%d", len(q.args))
	}
	q.where = append(q.where, fmt.Sprintf(condition, placeholders...))
}

// likeEscaper makes a text stand for itself in a LIKE pattern.
func likeEscaper() *strings.Replacer { return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`) }

// collectLinks reads rows of an epoch and linkColumns.
func collectLinks(rows pgx.Rows) ([]link.Link, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (link.Link, error) {
		var epoch int64
		var r linkRow
		err := row.Scan(append([]any{&epoch}, r.dest()...)...)
		return r.link(unsigned(epoch)), err
	})
}
