package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"waypost/shared/feed"
)

// identity is the physical history that positions belong to. The timeline
// comes from the WAL being written, because pg_control lags after a promotion.
const identity = `SELECT system_identifier,
	('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint FROM pg_control_system()`

// checkEpoch starts a new epoch if the server is not the one that the epoch's
// row was written on. Connections that find that out together make one step.
func checkEpoch(ctx context.Context, conn *pgx.Conn) error {
	var seen, system, timeline int64
	err := conn.QueryRow(ctx, `SELECT n, system_identifier, timeline FROM epoch`).Scan(&seen, &system, &timeline)
	if err != nil {
		return fmt.Errorf("epoch: %w", err)
	}
	var nowSystem, nowTimeline int64
	if err := conn.QueryRow(ctx, identity).Scan(&nowSystem, &nowTimeline); err != nil {
		return fmt.Errorf("identity of the server: %w", err)
	}
	if nowSystem == system && nowTimeline == timeline {
		return nil
	}
	_, err = bump(ctx, conn, pgtype.Int8{Int64: seen, Valid: true})
	return err
}

// BumpEpoch starts a new epoch and returns its number: edges drop what they
// hold. It is for a database that was put back to an older state in a way that
// the server itself does not show.
func (s *Store) BumpEpoch(ctx context.Context) (n uint64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	n, err = bump(ctx, s.pool, pgtype.Int8{})
	return n, translate("bump epoch", err)
}

// BumpEpochFrom starts a new epoch if it still is the one seen: somebody holds
// a position of it that the database does not know. Of many who find that out
// together one makes the step.
func (s *Store) BumpEpochFrom(ctx context.Context, seen uint64) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var n int64
	if err := s.pool.QueryRow(ctx, `SELECT n FROM epoch`).Scan(&n); err != nil {
		return translate("bump epoch", err)
	}
	if unsigned(n) != seen {
		return nil // without stopping all writers
	}
	_, err := bump(ctx, s.pool, pgtype.Int8{Int64: n, Valid: true})
	return translate("bump epoch", err)
}

// beginner is a pool or a connection.
type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// bump makes the next epoch, of this server; if seen is not null, then only if
// the epoch is that one, and n is 0 if it is not.
//
// It holds all heads, so that a write which read the old epoch has committed
// before the new one begins: the heads that edges start the new epoch from have
// its position. Otherwise an edge that stands at (new epoch, position before)
// would pass for having the write.
func bump(ctx context.Context, db beginner, seen pgtype.Int8) (n uint64, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockHeads, firstShards(feed.AllShards)); err != nil {
			return err
		}
		var next int64
		err := tx.QueryRow(ctx, `UPDATE epoch SET n = n + 1, (system_identifier, timeline) = (`+identity+`)
			WHERE n = coalesce($1, n) RETURNING n`, seen).Scan(&next)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		n = unsigned(next)
		return err
	})
	return n, err
}
