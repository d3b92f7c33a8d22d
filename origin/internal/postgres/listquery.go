package postgres

import (
	"fmt"
	"strings"
)

// query is a statement of a list in the making: its conditions and their values.
// The table of links is l, that of clicks c.
type query struct {
	order order
	where []string
	args  []any
	text  string // once it is read
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

// conditions are all of them in one.
func (q *query) conditions() string {
	if len(q.where) == 0 {
		return "true"
	}
	return strings.Join(q.where, " AND ")
}

func (q *query) andOwner(owner *string) {
	if owner != nil {
		q.and("l.owner = %s", *owner)
	}
}

func (q *query) andDomain(domain *string) {
	if domain != nil {
		q.and("l.domain = %s", *domain)
	}
}

func (q *query) andTag(tag string) {
	if tag != "" {
		q.and("l.tags @> %s", []string{tag})
	}
}

// andText adds the condition in a form that no index is of use for.
func (q *query) andText(folded string) {
	if folded != "" {
		q.and("strpos(l.search, %s) > 0", folded)
	}
}

// andBehind adds the place that the list goes on from.
func (q *query) andBehind(c *cursor) {
	if c == nil {
		return
	}
	beyond := "<"
	if q.order == oldestFirst {
		beyond = ">"
	}
	key, id := q.order.columns()
	q.and("("+key+", "+id+") "+beyond+" (%s, %s)", c.value(), c.id)
}

// by is the order, as a clause.
func (q *query) by() string {
	direction := "DESC"
	if q.order == oldestFirst {
		direction = "ASC"
	}
	key, id := q.order.columns()
	return fmt.Sprintf("ORDER BY %[1]s %[3]s, %[2]s %[3]s", key, id, direction)
}

// columns are what the order goes by, from the table that has its index.
func (o order) columns() (key, id string) {
	if o == mostClicked {
		return "c.clicks", "c.link_id"
	}
	return "l.created_at", "l.link_id"
}

// read completes the statement: the first rows of from that meet the conditions,
// in the order, up to limit. flags are two columns: whether a row's link is one
// that is asked for, and whether nothing was looked at beyond it.
func (q *query) read(from, flags string, limit int) *query {
	_, id := q.order.columns()
	clicks := "0::bigint"
	if q.order == mostClicked {
		clicks = "c.clicks"
	}
	q.text = fmt.Sprintf(`SELECT e.n, %s, %s, %s, %s FROM epoch e CROSS JOIN %s WHERE %s %s LIMIT %d`,
		id, clicks, flags, linkColumns, from, q.conditions(), q.by(), limit)
	return q
}
