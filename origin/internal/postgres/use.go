package postgres

import (
	"context"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// takeUse takes one use of a limited link if one is left and the link is live,
// and reads the link in the same statement. Of those that want the last use at
// the same time one gets it: the others wait for its row, and look again. A link
// that is used up is only read, since uses never become fewer.
const takeUse = `
	WITH l AS MATERIALIZED (
		SELECT l.*, max_clicks > 0 AND enabled AND deleted_at IS NULL
			AND (starts_at IS NULL OR starts_at <= now) AND (expires_at IS NULL OR expires_at > now) AS limited
		FROM links l, (SELECT clock_timestamp() AS now) t WHERE l.domain = $2 AND l.code = $3
	), taken AS (
		INSERT INTO link_use AS u (link_id, uses)
		SELECT link_id, 1 FROM l
		WHERE limited AND NOT EXISTS (SELECT FROM link_use x WHERE x.link_id = l.link_id AND x.uses >= l.max_clicks)
		ON CONFLICT (link_id) DO UPDATE SET uses = u.uses + 1 WHERE u.uses < (SELECT max_clicks FROM l)
		RETURNING link_id
	)
	SELECT e.n, h.seq, coalesce(l.limited, false), EXISTS (SELECT FROM taken), ` + linkColumns + `
	FROM epoch e CROSS JOIN shard_head h LEFT JOIN l ON true WHERE h.shard = $1`

// Use takes one use of the key's link, if that is limited, and answers as
// feed.Use says: at most max_clicks calls are answered with feed.UseTaken, and
// nobody else is told the target. A link that was made anew starts at none; uses
// count against the limit of the moment, so one that is raised gives more.
//
// An error, link.ErrUnavailable, leaves open whether a use was taken: whoever
// calls again may take another.
func (s *Store) Use(ctx context.Context, key link.Key) (*feed.Use, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var epoch, head int64
	var limited, taken bool
	var r linkRow
	err := s.clicks.QueryRow(ctx, takeUse, feed.Shard(key.Hash()), key.Domain, key.Code).
		Scan(append([]any{&epoch, &head, &limited, &taken}, r.dest()...)...)
	if err != nil {
		return nil, translate("use of "+key.String(), err)
	}
	u := &feed.Use{Verdict: feed.UseNone, Entry: &feed.Entry{Epoch: unsigned(epoch), AsOf: unsigned(head), Key: key}}
	if r.found() {
		l := r.link(u.Entry.Epoch)
		u.Entry.Version, u.Entry.Body = l.Version, body(&l)
		switch {
		case taken:
			u.Verdict, u.Entry.Body = feed.UseTaken, usedBody(&l)
		case limited:
			u.Verdict = feed.UsedUp
		}
	}
	return u, nil
}
