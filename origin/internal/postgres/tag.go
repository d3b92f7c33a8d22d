package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"waypost/shared/link"
)

// KeysByTag reads up to limit keys of the live links that have a tag, of one
// owner unless it is nil, in byte order of (domain, code), after the given one;
// the zero key starts.
func (s *Store) KeysByTag(ctx context.Context, owner *string, tag string, after link.Key, limit int) ([]link.Key, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	q := query{where: []string{"deleted_at IS NULL"}}
	q.and("tags @> %s", []string{tag})
	q.and("(domain, code) > (%s, %s)", after.Domain, after.Code)
	if owner != nil {
		q.and("owner = %s", *owner)
	}
	rows, err := s.pool.Query(ctx, fmt.Sprintf(`SELECT domain, code FROM links WHERE %s ORDER BY domain, code LIMIT %d`,
		strings.Join(q.where, " AND "), limit), q.args...)
	if err != nil {
		return nil, translate("keys by tag", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[link.Key])
	return keys, translate("keys by tag", err)
}
