package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const day = 24 * time.Hour

// partitioned is a table whose rows stand in partitions by their time, from
// which old ones go by dropping a table. A default partition takes what no other
// one is there for: a write never fails for the lack of one.
type partitioned struct {
	table  string
	column string // of the time, timestamptz
	key    string // columns of the primary key
	fill   int    // of a partition's pages, in percent, when rows are inserted
	days   int    // that one partition holds, counted in groups from 1970
	ahead  int    // partitions after the present one: so long may every Prune fail before rows go to the default one

	// wait is how long a change of partitions waits for those that use the table,
	// and how long then others wait behind it.
	wait time.Duration
}

// outboxPartitions are used by every write of a link, for some milliseconds.
func outboxPartitions() partitioned {
	return partitioned{table: "outbox", column: "at", key: "shard, seq", fill: 100, days: 1, ahead: 3, wait: 100 * time.Millisecond}
}

// hourPartitions are used by stretches that are being counted, for a second each
// and without a gap where much is clicked. Clicks can wait.
func hourPartitions() partitioned {
	return partitioned{table: "click_hour", column: "hour", key: "link_id, hour", fill: 50, days: 7, ahead: 2, wait: 3 * time.Second}
}

// takeTurn lets origins change partitions one after the other; a lock of two
// numbers never meets those of one number, which writes take. Then it makes the
// transaction one in a hurry: readers and writers of the table queue behind it
// while it waits for a lock, and while it looks through the default partition.
func (p partitioned) takeTurn() string {
	return fmt.Sprintf(`SELECT pg_advisory_xact_lock(hashtext('waypost'), hashtext('outbox'));
		SET LOCAL lock_timeout = %s; SET LOCAL statement_timeout = %s`, millis(p.wait), millis(p.wait+time.Second))
}

// today is when PostgreSQL's day began, UTC.
func (s *Store) today(ctx context.Context) (time.Time, error) {
	now, err := s.clock(ctx)
	return now.Truncate(day), err
}

// span is how long a partition is.
func (p partitioned) span() time.Duration { return time.Duration(p.days) * day }

// start is when the partition begins that holds t, at UTC midnight.
func (p partitioned) start(t time.Time) time.Time {
	days := t.Unix() / int64(day/time.Second)
	return time.Unix((days-days%int64(p.days))*int64(day/time.Second), 0).UTC()
}

// name is that of the partition which begins at from. Names sort as their days
// do. The first one of an old outbox holds all days before it, too.
func (p partitioned) name(from time.Time) string { return p.table + "_" + from.Format("20060102") }

// createPartitions makes the present one and the coming ones that are missing.
func (s *Store) createPartitions(ctx context.Context, p partitioned, today time.Time) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, p.takeTurn()); err != nil {
			return err
		}
		for ahead := range p.ahead + 1 {
			if err := p.create(ctx, tx, p.start(today).Add(time.Duration(ahead)*p.span())); err != nil {
				return err
			}
		}
		return nil
	})
	return translate("create partitions of "+p.table, err)
}

// create makes the one that begins at from. Rows of its time that are in the
// default partition stay there, and with them all of that time.
func (p partitioned) create(ctx context.Context, tx pgx.Tx, from time.Time) error {
	name, to := p.name(from), from.Add(p.span())
	var exists, taken bool
	if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&exists); err != nil || exists {
		return err
	}
	if _, err := tx.Exec(ctx, `LOCK TABLE `+p.table+`_default IN ACCESS EXCLUSIVE MODE`); err != nil {
		return err
	}
	err := tx.QueryRow(ctx, fmt.Sprintf(`SELECT EXISTS (SELECT FROM %[1]s_default WHERE %[2]s >= $1 AND %[2]s < $2)`,
		p.table, p.column), from, to).Scan(&taken)
	if err != nil || taken {
		return err
	}
	// Attached, because a table that is made as a partition locks all writers out
	// of the whole.
	_, err = tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %[2]s (LIKE %[1]s INCLUDING CONSTRAINTS, PRIMARY KEY (%[3]s))
			WITH (fillfactor = %[4]d);
		ALTER TABLE %[1]s ATTACH PARTITION %[2]s FOR VALUES FROM ('%[5]s') TO ('%[6]s')`,
		p.table, name, p.key, p.fill, from.Format(time.RFC3339), to.Format(time.RFC3339)))
	return err
}

// dropPartitions drops those that end at or before oldest, each in a transaction
// of its own.
func (s *Store) dropPartitions(ctx context.Context, p partitioned, oldest time.Time) error {
	names, err := s.partitionsBefore(ctx, p, oldest)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, s.dropPartition(ctx, p, name))
	}
	return errors.Join(errs...)
}

// partitionsBefore names those that end at or before oldest, in their order.
func (s *Store) partitionsBefore(ctx context.Context, p partitioned, oldest time.Time) ([]string, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = $1::regclass AND c.relname ~ ('^' || $1 || '_[0-9]{8}$') AND c.relname < $2
		ORDER BY c.relname`, p.table, p.name(p.start(oldest)))
	if err != nil {
		return nil, translate("old partitions", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, translate("old partitions", err)
}

// dropPartition drops one, unless another origin just did.
func (s *Store) dropPartition(ctx context.Context, p partitioned, name string) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, p.takeTurn()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DROP TABLE IF EXISTS `+name)
		return err
	})
	return translate("drop "+name, err)
}

// pruneDefault deletes rows from before oldest that are in the default
// partition.
func (s *Store) pruneDefault(ctx context.Context, p partitioned, oldest time.Time) error {
	for {
		rows, err := s.pruneBatch(ctx, p, oldest)
		if err != nil || rows < pruneRows {
			return translate("prune "+p.table, err)
		}
	}
}

func (s *Store) pruneBatch(ctx context.Context, p partitioned, oldest time.Time) (rows int64, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tag, err := s.pool.Exec(ctx, fmt.Sprintf(`DELETE FROM %[1]s_default WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM %[1]s_default WHERE %[2]s < $1 LIMIT $2))`, p.table, p.column), oldest, pruneRows)
	return tag.RowsAffected(), err
}
