package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"waypost/shared/failpoint"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// Link reads a link. The error is link.ErrNotFound for a tombstone too.
func (s *Store) Link(ctx context.Context, key link.Key) (link.Link, error) {
	return s.readLink(ctx, key, `l.deleted_at IS NULL`)
}

// Counted reads the link whose clicks are counted under a key: a deleted one
// too, until its counts are gone or its code is taken again. The error is
// link.ErrNotFound if there is none.
func (s *Store) Counted(ctx context.Context, key link.Key) (link.Link, error) {
	return s.readLink(ctx, key, `EXISTS (SELECT FROM click_link c WHERE c.link_id = l.link_id)`)
}

func (s *Store) readLink(ctx context.Context, key link.Key, condition string) (link.Link, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var epoch int64
	var r linkRow
	err := s.pool.QueryRow(ctx, `
		SELECT e.n, `+linkColumns+` FROM epoch e JOIN links l ON l.domain = $1 AND l.code = $2
		WHERE `+condition, key.Domain, key.Code).Scan(append([]any{&epoch}, r.dest()...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return link.Link{}, link.ErrNotFound
	}
	if err != nil {
		return link.Link{}, translate("link "+key.String(), err)
	}
	return r.link(unsigned(epoch)), nil
}

// Entry reads what an edge is to know of a key: value and position come from
// one snapshot, so that every change up to AsOf is in it, also where the key is
// absent.
func (s *Store) Entry(ctx context.Context, key link.Key) (*feed.Entry, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	s.loads.Add(1)
	var epoch, head int64
	var r linkRow
	err := s.edges.QueryRow(ctx, `
		SELECT e.n, h.seq, `+entryColumns+`
		FROM epoch e CROSS JOIN shard_head h LEFT JOIN links l ON l.domain = $2 AND l.code = $3
		WHERE h.shard = $1`, feed.Shard(key.Hash()), key.Domain, key.Code).
		Scan(append([]any{&epoch, &head}, r.entryDest()...)...)
	if err != nil {
		return nil, translate("entry "+key.String(), err)
	}
	failpoint.Hit(failpoint.EntryRead)
	e := &feed.Entry{Epoch: unsigned(epoch), AsOf: unsigned(head), Key: key}
	if r.found() {
		l := r.link(e.Epoch)
		e.Version, e.Body = l.Version, body(&l)
	}
	return e, nil
}
