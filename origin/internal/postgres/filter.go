package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Codes reads one page of the keys of a shard, tombstones included, that come
// after the given one in byte order of (domain, code); the zero key starts. A
// filter made of all pages is exact at the head read with the first one.
func (s *Store) Codes(ctx context.Context, shard int, after link.Key) (*feed.Codes, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	// The condition on the shard is part of the range, not an equality: the planner
	// would otherwise take (domain, code) alone, which has one domain for most
	// links, for the better index and read all shards.
	rows, err := s.edges.Query(ctx, `
		SELECT e.n, h.seq, l.domain, l.code
		FROM epoch e CROSS JOIN shard_head h LEFT JOIN LATERAL (
			SELECT domain, code FROM links WHERE (shard, domain, code) > ($1::smallint, $2, $3) AND shard <= $1::smallint
			ORDER BY shard, domain, code LIMIT $4
		) l ON true
		WHERE h.shard = $1 ORDER BY l.domain, l.code`, shard, after.Domain, after.Code, feed.MaxCodes+1)
	if err != nil {
		return nil, translate("codes", err)
	}
	c := &feed.Codes{Last: after}
	var epoch, head int64
	var domain, code pgtype.Text
	_, err = pgx.ForEachRow(rows, []any{&epoch, &head, &domain, &code}, func() error {
		switch {
		case !code.Valid:
		case len(c.Hashes) == feed.MaxCodes:
			c.More = true
		default:
			c.Last = link.Key{Domain: domain.String, Code: code.String}
			c.Hashes = append(c.Hashes, c.Last.Hash())
		}
		return nil
	})
	if err != nil {
		return nil, translate("codes", err)
	}
	c.Epoch, c.Head = unsigned(epoch), unsigned(head)
	return c, nil
}
