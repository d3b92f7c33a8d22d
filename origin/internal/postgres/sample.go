package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const (
	sampledPages = 16 // of the table, with some twenty links each
	keptGrams    = 4  // that links are found by: what four have, few others have
)

// sample looks at some links, anywhere in the table: it reports whether there are
// any among them that are asked for, and leaves the listing the rarest grams of
// its text.
//
// Of the first gram the index reads all that it has, and it skips through the
// others, so one that half of the links have must not come first. (Measured at
// 1,000,000 links, a part of a target with a number: 27 ms by all grams at once,
// as the index looks for a longer text by itself; 0.6 ms by the rarest four.)
func (s *Store) sample(ctx context.Context, l *listing) (many bool, err error) {
	q := l.sample()
	err = s.pool.QueryRow(ctx, q.text, append([]any{pgx.QueryExecModeCacheDescribe}, q.args...)...).Scan(&many, &l.grams)
	return many, translate("list", err)
}

// sample is whether any link of a sample is one that is asked for, and the grams
// of the text in the order in which they are rare in the sample. The sample is
// bound by size and not by the number of links, which the server may not know yet.
func (l *listing) sample() *query {
	q := l.query()
	asked := l.matching(q)
	asked.and("l.deleted_at IS NULL")
	q.args = append(q.args, l.term.grams)
	q.text = fmt.Sprintf(`
		WITH sample AS MATERIALIZED (
			SELECT * FROM links TABLESAMPLE SYSTEM (
				(SELECT least(100, 100.0 * %d * current_setting('block_size')::int / greatest(pg_relation_size('links'), 1)))))
		SELECT EXISTS (SELECT FROM sample l WHERE %s), ARRAY (
			SELECT gram FROM unnest($%d::text[]) WITH ORDINALITY AS g (gram, place)
			ORDER BY (SELECT count(*) FROM sample WHERE strpos(search, gram) > 0), place
			LIMIT %d)`, sampledPages, asked.conditions(), len(q.args), keptGrams)
	return q
}
