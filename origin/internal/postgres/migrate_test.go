package postgres

import (
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"waypost/deploy/services"
	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// migrateTo brings a database to an older version of the schema.
func migrateTo(t *testing.T, s *Store, version int64) {
	t.Helper()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatalf("migrations: %v", err)
	}
	db := stdlib.OpenDB(*s.pool.Config().ConnConfig)
	defer db.Close() //nolint:errcheck // nothing is open on it
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatalf("provider: %v", err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatalf("migrate to %d: %v", version, err)
	}
}

func TestAnOutboxWithoutPartitionsIsTakenOver(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{URL: services.Postgres(t)})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	migrateTo(t, s, 1)
	today, err := s.today(t.Context())
	if err != nil {
		t.Fatalf("today: %v", err)
	}
	key := link.Key{Code: "k"}
	shard := feed.Shard(key.Hash())
	days := []int{-300, -8, -1, 0, 0, 2, 2} // the last ones by a clock that was ahead
	for i, days := range days {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO outbox VALUES ($1, $2, 2, $3, '', 'k', '\x00')`,
			shard, i+1, today.AddDate(0, 0, days))
		if err != nil {
			t.Fatalf("insert: %v", err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), `UPDATE shard_head SET seq = $2 WHERE shard = $1`, shard, len(days)); err != nil {
		t.Fatalf("head: %v", err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	results, err := s.Write(t.Context(), []links.Mutation{{Key: key, Merge: func(*link.Link, time.Time) (*link.Link, error) {
		return &link.Link{Target: "https://a.example/", Status: 302}, nil
	}}})
	if err != nil || results[0].Err != nil || results[0].Link.Version != uint64(len(days))+1 {
		t.Fatalf("Write: %+v, %v, want version %d", results, err, len(days)+1)
	}
	check := func(step string, from uint64, rows int) {
		t.Helper()
		c, err := s.Changes(t.Context(), shard, 1, from)
		if err != nil || c.Reset != (rows < 0) || len(c.Rows) != max(rows, 0) {
			t.Errorf("%s: changes from %d: %+v, %v, want %d rows (-1: a reset)", step, from, c, err, rows)
		}
	}
	check("migrated", 0, 8)
	check("migrated", 4, 4)
	if err := s.Prune(t.Context()); err != nil {
		t.Fatalf("Prune: %v", err)
	}
	check("pruned on the same day", 0, 8)

	// What Prune does when today is a week and a day ago.
	if err := s.dropPartitions(t.Context(), outboxPartitions(), today.AddDate(0, 0, 1)); err != nil {
		t.Fatalf("dropPartitions: %v", err)
	}
	check("pruned eight days later", 0, -1)
	check("pruned eight days later", 8, 0)
}

func TestLinksFromBeforeCountersGetThem(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{URL: services.Postgres(t), StatementTimeout: time.Minute})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	migrateTo(t, s, 2)
	add := func(id int, deleted string) {
		t.Helper()
		_, err := s.pool.Exec(t.Context(), `INSERT INTO links (link_id, domain, code, shard, version, generated, target, target_hash,
				status, enabled, owner, title, tags, query, suffix, class, clicks, expired_url, max_clicks, created_at, updated_at, deleted_at)
			VALUES ($1::bigint, '', 'k' || $1::bigint, 0, 1, true, 'https://a.example/', 0, 302, true, '', '', '{}', 'off', 'off', 'available', true, '', 0,
				now(), now(), nullif($2, '')::timestamptz)`, id, deleted)
		if err != nil {
			t.Fatalf("insert: %v", err)
		}
	}
	add(1, "")
	add(2, "now")
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	add(3, "")
	rows, err := s.pool.Query(t.Context(), `SELECT link_id FROM click_link ORDER BY link_id`)
	if err != nil {
		t.Fatalf("counters: %v", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil || !slices.Equal(ids, []int{1, 3}) {
		t.Errorf("links with counters %v, %v, want those that live, 1 and 3", ids, err)
	}
}
