package positions

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/shared/feed"
)

// database opens a connection of the test's own to the fleet's PostgreSQL.
func (s *stage) database(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Postgres.URL())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// noteCommits lets PostgreSQL note the time of each commit. It does so from its next start on.
func (s *stage) noteCommits(t *testing.T) {
	t.Helper()
	conn := s.database(t)
	_, err := conn.Exec(t.Context(), "ALTER SYSTEM SET track_commit_timestamp = on")
	if closed := conn.Close(t.Context()); err == nil {
		err = closed
	}
	if err == nil {
		err = s.Postgres.Restart(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// commits tells a watch when the changes after the positions in from, up to those in to, were committed.
func (s *stage) commits(t *testing.T, from, to *feed.Heads, watch *Watch) {
	t.Helper()
	conn := s.database(t)
	defer conn.Close(t.Context()) //nolint:errcheck // what was asked is here
	rows, err := conn.Query(t.Context(), `SELECT shard, seq, pg_xact_commit_timestamp(xmin) FROM outbox
		WHERE seq > ($1::bigint[])[shard + 1] AND seq <= ($2::bigint[])[shard + 1]`, from.Seq[:], to.Seq[:])
	if err != nil {
		t.Fatal(err)
	}
	var p feed.Position
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&p.Shard, &p.Seq, &at}, func() error {
		watch.Committed(p, at)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
