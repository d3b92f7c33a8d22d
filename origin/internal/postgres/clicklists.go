package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

// RecentClicks reads the newest clicks of a link, newest first.
func (s *Store) RecentClicks(ctx context.Context, id int64) ([]click.Recent, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var packed []byte
	err := s.pool.QueryRow(ctx, `SELECT newest FROM click_newest WHERE link_id = $1`, id).Scan(&packed)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, translate("recent clicks", err)
	}
	newest, err := unpackNewest(packed)
	if err != nil {
		s.damages.tell(ctx, []damaged{{column: "click_newest.newest", link: id}})
		return nil, nil
	}
	return newest, nil
}

// candidates is how many links with the most clicks are looked at for those
// that are asked for, of one owner or with one tag, before it goes the other way
// round: all of those are looked up one by one. The first way is short where they
// are many, the second where they are few. Which it is the planner would guess,
// and at a million links it may not guess wrong.
const candidates = 10_000

const (
	topOfAll = `
		SELECT l.domain, l.code, d.clicks FROM click_day d JOIN links l USING (link_id)
		WHERE d.day = $1 AND l.deleted_at IS NULL
		ORDER BY d.clicks DESC, d.link_id DESC LIMIT $2`
	topOfMany = `
		SELECT l.domain, l.code, d.clicks FROM (
			SELECT link_id, clicks FROM click_day WHERE day = $1 ORDER BY clicks DESC, link_id DESC LIMIT $4
		) d JOIN links l USING (link_id)
		WHERE l.owner = $3 AND l.deleted_at IS NULL
		ORDER BY d.clicks DESC, d.link_id DESC LIMIT $2`
	topOfFew = `
		SELECT l.domain, l.code, d.clicks FROM links l CROSS JOIN LATERAL (
			SELECT clicks FROM click_day WHERE link_id = l.link_id AND day = $1 OFFSET 0
		) d
		WHERE l.owner = $3 AND l.deleted_at IS NULL
		ORDER BY d.clicks DESC, l.link_id DESC LIMIT $2`
)

// TopLinks reads the links, of one owner unless it is nil, with the most clicks
// on a day (its midnight, UTC), most first, without those that are deleted.
func (s *Store) TopLinks(ctx context.Context, midnight time.Time, owner *string, limit int) ([]clicks.Ranked, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if owner == nil {
		return s.top(ctx, topOfAll, midnight, limit)
	}
	found, err := s.top(ctx, topOfMany, midnight, limit, *owner, candidates)
	if err != nil || len(found) == limit {
		return found, err
	}
	return s.top(ctx, topOfFew, midnight, limit, *owner)
}

func (s *Store) top(ctx context.Context, statement string, args ...any) ([]clicks.Ranked, error) {
	rows, err := s.pool.Query(ctx, statement, args...)
	if err != nil {
		return nil, translate("top links", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (clicks.Ranked, error) {
		var r clicks.Ranked
		var n int64
		err := row.Scan(&r.Key.Domain, &r.Key.Code, &n)
		r.Clicks = unsigned(n)
		return r, err
	})
	return found, translate("top links", err)
}

// Orphans reads how often codes were asked for that do not exist, ascending by
// hour and region.
func (s *Store) Orphans(ctx context.Context, r clicks.Range) ([]clicks.Orphans, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT hour, region, count FROM click_orphan
		WHERE hour >= $1 AND hour < $2 ORDER BY hour, region`, r.From, r.To)
	if err != nil {
		return nil, translate("orphans", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (clicks.Orphans, error) {
		var o clicks.Orphans
		var n int64
		err := row.Scan(&o.Hour, &o.Region, &n)
		o.Hour, o.Count = o.Hour.UTC(), unsigned(n)
		return o, err
	})
	return found, translate("orphans", err)
}
