package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"waypost/shared/link"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrateWait bounds how long Migrate waits for another origin's.
const migrateWait = 2 * time.Minute

// Migrate brings the schema up to date, and makes the partitions for the coming
// days. Origins that start together take turns by an advisory lock; migrations
// go forward only.
func (s *Store) Migrate(ctx context.Context) (err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	// The lock is asked for once a second (goose's unit), not waited for in the
	// server, where the wait would be cut short by the statement timeout.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, uint64(migrateWait/time.Second)))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	// A session of its own, without the timeouts of the pool: an index over many
	// links takes its time.
	config := s.pool.Config().ConnConfig
	for _, name := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		delete(config.RuntimeParams, name)
	}
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return translate("migrate", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return translate("migrate", err)
	}
	today, err := s.today(ctx)
	if err != nil {
		return err
	}
	for _, p := range []partitioned{outboxPartitions(), hourPartitions()} {
		err := s.createPartitions(ctx, p, today)
		// A dump may hold the table for hours: the default partition does until a Prune succeeds.
		if err != nil && !errors.Is(err, link.ErrUnavailable) {
			return err
		}
	}
	return nil
}
