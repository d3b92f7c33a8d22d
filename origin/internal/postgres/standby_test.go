package postgres_test

import (
	"context"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/feed"
)

// synchronous says which standby commits wait for, "" for none.
func synchronous(t *testing.T, url, standby string) {
	t.Helper()
	exec(t, url, `ALTER SYSTEM SET synchronous_standby_names = '`+standby+`'`)
	exec(t, url, `SELECT pg_reload_conf()`)
}

// waitsForStandby runs call until it waits for a standby at its commit, and
// returns where it will tell its end.
func waitsForStandby(t *testing.T, url, query string, call func(context.Context) error) <-chan error {
	t.Helper()
	conn := connect(t, url)
	ended := make(chan error, 1)
	start := func() { go func() { ended <- call(t.Context()) }() }
	start()
	eventually(t, query+" waits for a standby", func() bool {
		select {
		case err := <-ended: // the setting has not reached the server yet
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			start()
		default:
		}
		var waiting bool
		err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE wait_event = 'SyncRep' AND query LIKE '%' || $1 || '%')`, query).Scan(&waiting)
		if err != nil {
			t.Fatalf("pg_stat_activity: %v", err)
		}
		return waiting
	})
	return ended
}

func end(t *testing.T, url string, ended <-chan error) {
	t.Helper()
	synchronous(t, url, "")
	if err := <-ended; err != nil {
		t.Errorf("after the standby was given up: %v", err)
	}
}

// TestAPrimaryThatItsStandbysLeftAnswersNoRoster has a standby that never
// confirms, as a primary that was replaced without knowing it has.
func TestAPrimaryThatItsStandbysLeftAnswersNoRoster(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := openStore(t, pg.URL())
	synchronous(t, pg.URL(), "gone")
	ended := waitsForStandby(t, pg.URL(), "array_agg(seq", func(ctx context.Context) error {
		_, err := s.Roster(ctx)
		return err
	})
	end(t, pg.URL(), ended)
}

// TestTimesToWaitFromAreNotBeforeTheirCommitIsSeen holds up the commits that end
// a membership and that change the bound.
func TestTimesToWaitFromAreNotBeforeTheirCommitIsSeen(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := openStore(t, pg.URL())
	join(t, s, eu)
	conn := connect(t, pg.URL())
	for _, tt := range []struct {
		query, row, at string
		call           func(context.Context) error
	}{
		{
			"UPDATE edge_member", `SELECT clock_timestamp() FROM edge_member WHERE left_at IS NULL`,
			`SELECT left_at FROM edge_member`,
			func(ctx context.Context) error { return s.Leave(ctx, []feed.Member{eu}) },
		},
		{
			"UPDATE stale_bound", `SELECT clock_timestamp() FROM stale_bound WHERE value = '1 second'`,
			`SELECT since FROM stale_bound`,
			func(ctx context.Context) error { return s.SetBound(ctx, 2*time.Second) },
		},
	} {
		synchronous(t, pg.URL(), "gone")
		// The checkpointer may be late to hear of it; a statement that commits at once must not be the one held up.
		ended := waitsForStandby(t, pg.URL(), "pg_logical_emit_message", func(ctx context.Context) error {
			_, err := conn.Exec(ctx, `SELECT pg_logical_emit_message(true, 'waypost', 'test')`)
			return err
		})
		held := waitsForStandby(t, pg.URL(), tt.query, tt.call)
		var seen, at time.Time
		if err := connect(t, pg.URL()).QueryRow(t.Context(), tt.row).Scan(&seen); err != nil {
			t.Fatalf("%s before its commit is seen: %v", tt.query, err)
		}
		end(t, pg.URL(), ended)
		if err := <-held; err != nil {
			t.Fatalf("%s: %v", tt.query, err)
		}
		if err := conn.QueryRow(t.Context(), tt.at).Scan(&at); err != nil || !at.After(seen) {
			t.Errorf("%s: time %v, %v, want after %v, when the old row was still seen", tt.query, at, err, seen)
		}
	}
}
