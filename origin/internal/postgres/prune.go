package postgres

import (
	"context"
	"errors"
	"time"
)

const (
	// keepDays is how many whole days changes are kept after their own.
	keepDays = 7
	// keepLeft is how long the row of an edge that left stays, to be looked at. It
	// is far longer than any bound that such a row counts for.
	keepLeft = 24 * time.Hour
	// pruneRows is the most rows that one statement deletes.
	pruneRows = 10_000
)

// Prune makes what will soon be needed and drops what is not any more: the
// outbox has a partition for today and each of the coming three days, changes
// are kept for seven whole days, rows of edges for a day after they left, and of
// clicks what pruneClicks says, histories as pruneHistory says, and answers of
// calls that are carried out once for a day. It is for every origin to call,
// about once an hour, at the same time if it comes to that.
//
// It does as much as it can. What it gets no turn for in 100 ms, or seconds where
// only clicks are held up, is left to the next call; the error then is
// link.ErrUnavailable.
func (s *Store) Prune(ctx context.Context) error {
	today, err := s.today(ctx)
	if err != nil {
		return err
	}
	oldest := today.Add(-keepDays * day)
	return errors.Join(
		s.createPartitions(ctx, outboxPartitions(), today),
		s.dropPartitions(ctx, outboxPartitions(), oldest),
		s.pruneDefault(ctx, outboxPartitions(), oldest),
		s.pruneMembers(ctx),
		s.pruneClicks(ctx, today),
		s.pruneHistory(ctx),
		s.pruneOnce(ctx),
	)
}

// pruneMembers deletes the rows of edges that left long ago, and brings to an
// end what a Leave was cut short in.
func (s *Store) pruneMembers(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.pool.Exec(ctx, endLeaving); err != nil {
		return translate("prune members", err)
	}
	_, err := s.pool.Exec(ctx, `DELETE FROM edge_member WHERE left_at < clock_timestamp() - $1::interval`, keepLeft)
	return translate("prune members", err)
}
