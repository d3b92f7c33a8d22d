package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// keepMarks is how long the mark of a log that has ended stays after it was last
// moved: an edge that did not hear so would send the log a second time, and none
// is away for that long and comes back with its disk. One that has not ended may
// be of an edge that nobody asks for anything, but most are of disks that are no
// more, and of memory: they go too, keepOpen later, or there would be ever more.
const (
	keepMarks = 400 * day
	keepOpen  = 5 * keepMarks
)

// goneBatch is the most links whose counters one transaction deletes.
const goneBatch = 500

// pruneClicks drops what is older than the whole days that the store is set to
// keep: clicks by the hour, orphans, and all that is counted of links that were
// deleted so long ago. Marks go long after they were last moved.
func (s *Store) pruneClicks(ctx context.Context, today time.Time) error {
	horizon := today.Add(-s.keepHours.Truncate(day))
	return errors.Join(
		s.createPartitions(ctx, hourPartitions(), today),
		s.pruneHours(ctx, horizon),
		s.pruneGone(ctx, horizon),
		s.pruneMarks(ctx),
	)
}

// pruneHours moves the horizon and drops hours behind it. Those of the day
// before it are left for now: somebody may be reading who knows the horizon as
// it was, and to a dropped table no snapshot leads back.
func (s *Store) pruneHours(ctx context.Context, horizon time.Time) error {
	oldest, err := s.moveHorizon(ctx, horizon)
	if err != nil {
		return err
	}
	return errors.Join(
		s.pruneOrphans(ctx, oldest),
		s.dropPartitions(ctx, hourPartitions(), oldest),
		s.pruneDefault(ctx, hourPartitions(), oldest),
	)
}

// moveHorizon returns before when hours may go.
func (s *Store) moveHorizon(ctx context.Context, to time.Time) (oldest time.Time, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var at time.Time
	err = s.pool.QueryRow(ctx, `UPDATE click_horizon SET hour = greatest(hour, $1) RETURNING hour`, to).Scan(&at)
	return at.UTC().Add(-day), translate("move horizon", err)
}

func (s *Store) pruneOrphans(ctx context.Context, oldest time.Time) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_, err := s.pool.Exec(ctx, `DELETE FROM click_orphan WHERE hour < $1`, oldest)
	return translate("prune orphans", err)
}

// lockGone locks links that were deleted before a time. Those that a stretch is
// being counted for are left to the next time.
const lockGone = `SELECT c.link_id FROM click_gone g JOIN click_link c USING (link_id)
	WHERE g.at < $1 ORDER BY c.link_id LIMIT $2 FOR UPDATE OF c SKIP LOCKED`

// pruneGone deletes all that is counted of links that were deleted before a
// time, a few hundred at a time.
func (s *Store) pruneGone(ctx context.Context, before time.Time) error {
	for {
		ids, err := s.eraseGone(ctx, before)
		if err != nil || len(ids) < goneBatch {
			return translate("prune counters", err)
		}
	}
}

func (s *Store) eraseGone(ctx context.Context, before time.Time) (ids []int64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = pgx.BeginFunc(ctx, s.clicks, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, lockGone, before, goneBatch)
		if err != nil {
			return err
		}
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil || len(ids) == 0 {
			return err
		}
		b := &pgx.Batch{}
		queueErase(b, ids)
		for _, table := range []string{"click_link", "click_gone", "link_use"} {
			b.Queue(`DELETE FROM `+table+` WHERE link_id = ANY($1)`, ids)
		}
		return tx.SendBatch(ctx, b).Close()
	})
	return ids, err
}

func (s *Store) pruneMarks(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_, err := s.pool.Exec(ctx, `DELETE FROM click_mark
		WHERE touched < clock_timestamp() - CASE WHEN finished THEN $1::interval ELSE $2::interval END`, keepMarks, keepOpen)
	return translate("prune marks", err)
}
