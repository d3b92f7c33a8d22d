package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const day = 24 * time.Hour

// aheadDays is for how many days after today partitions are made: so long may
// every Prune fail before changes go to the default partition.
const aheadDays = 3

// takeTurn lets origins change partitions one after the other; a lock of two
// numbers never meets those of one number, which writes take. Then it makes the
// transaction one in a hurry: readers and writers of the outbox queue behind it
// while it waits for a lock, and while it looks through the default partition.
const takeTurn = `SELECT pg_advisory_xact_lock(hashtext('waypost'), hashtext('outbox'));
	SET LOCAL lock_timeout = '100ms'; SET LOCAL statement_timeout = '1s'`

// today is when PostgreSQL's day began, UTC.
func (s *Store) today(ctx context.Context) (time.Time, error) {
	now, err := s.clock(ctx)
	return now.Truncate(day), err
}

// partition names the one of the day that begins at from. Names sort as their
// days do. The first one of an old outbox holds all days before it, too.
func partition(from time.Time) string { return "outbox_" + from.Format("20060102") }

// createPartitions makes those of today and the coming days that are missing.
func (s *Store) createPartitions(ctx context.Context, today time.Time) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, takeTurn); err != nil {
			return err
		}
		for ahead := range aheadDays + 1 {
			if err := createPartition(ctx, tx, today.Add(time.Duration(ahead)*day)); err != nil {
				return err
			}
		}
		return nil
	})
	return translate("create partitions", err)
}

// createPartition makes the one of the day that begins at from. A day that has
// changes in the default partition stays there as a whole.
func createPartition(ctx context.Context, tx pgx.Tx, from time.Time) error {
	name, to := partition(from), from.Add(day)
	var exists, taken bool
	if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&exists); err != nil || exists {
		return err
	}
	if _, err := tx.Exec(ctx, `LOCK TABLE outbox_default IN ACCESS EXCLUSIVE MODE`); err != nil {
		return err
	}
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM outbox_default WHERE at >= $1 AND at < $2)`, from, to).Scan(&taken)
	if err != nil || taken {
		return err
	}
	// Attached, because a table that is made as a partition locks all writers out
	// of the outbox.
	_, err = tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %[1]s (LIKE outbox INCLUDING CONSTRAINTS, PRIMARY KEY (shard, seq));
		ALTER TABLE outbox ATTACH PARTITION %[1]s FOR VALUES FROM ('%[2]s') TO ('%[3]s')`,
		name, from.Format(time.RFC3339), to.Format(time.RFC3339)))
	return err
}

// dropPartitions drops those of the days before oldest, each in a transaction
// of its own.
func (s *Store) dropPartitions(ctx context.Context, oldest time.Time) error {
	names, err := s.partitionsBefore(ctx, oldest)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, s.dropPartition(ctx, name))
	}
	return errors.Join(errs...)
}

// partitionsBefore names those of the days before oldest, in their order.
func (s *Store) partitionsBefore(ctx context.Context, oldest time.Time) ([]string, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'outbox'::regclass AND c.relname ~ '^outbox_[0-9]{8}$' AND c.relname < $1
		ORDER BY c.relname`, partition(oldest))
	if err != nil {
		return nil, translate("old partitions", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, translate("old partitions", err)
}

// dropPartition drops one, unless another origin just did.
func (s *Store) dropPartition(ctx context.Context, name string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, takeTurn); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DROP TABLE IF EXISTS `+name)
		return err
	})
	return translate("drop "+name, err)
}
