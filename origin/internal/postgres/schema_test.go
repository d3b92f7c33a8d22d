package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/services"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
)

func TestTwoStoresMigrateTogether(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			defer s.Close()
			for range 2 {
				if err := s.Migrate(t.Context()); err != nil {
					t.Errorf("Migrate: %v", err)
				}
			}
			if h, err := s.Heads(t.Context()); err != nil || h.Epoch != 1 {
				t.Errorf("Heads = %+v, %v, want epoch 1", h, err)
			}
		})
	}
	wg.Wait()
}

// TestNoIndexRepeatsAnother compares the key columns of all indexes: one that
// another one starts with is written for nothing.
func TestNoIndexRepeatsAnother(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	openStore(t, url)
	conn := connect(t, url)
	repeats := func(t *testing.T) []string {
		t.Helper()
		rows, err := conn.Query(t.Context(), `
			WITH x AS (
				SELECT i.indexrelid, i.indrelid, i.indkey::text || ' ' AS columns, c.relam,
					coalesce(pg_get_expr(i.indpred, i.indrelid), '') AS predicate
				FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
				WHERE c.relnamespace = 'public'::regnamespace AND i.indexprs IS NULL
			)
			SELECT a.indexrelid::regclass || ' in ' || b.indexrelid::regclass
			FROM x a JOIN x b ON a.indrelid = b.indrelid AND a.indexrelid <> b.indexrelid AND a.relam = b.relam
			WHERE starts_with(b.columns, a.columns) AND b.predicate IN ('', a.predicate)`)
		if err != nil {
			t.Fatalf("pg_index: %v", err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("pg_index: %v", err)
		}
		return found
	}
	if got := repeats(t); len(got) > 0 {
		t.Errorf("indexes repeat others: %q", got)
	}
	// The query does find what it is for.
	for _, ddl := range []string{
		`CREATE INDEX repeat ON links (domain)`,
		`CREATE INDEX repeat ON links (domain, code)`,
		`CREATE INDEX repeat ON links (domain) WHERE enabled`,
	} {
		exec(t, url, ddl)
		if got := repeats(t); !slices.Contains(got, "repeat in links_domain_code_key") {
			t.Errorf("%s: found %q, want that index", ddl, got)
		}
		exec(t, url, `DROP INDEX repeat`)
	}
}

func TestAsynchronousCommitIsRefused(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	for _, tt := range []struct {
		value   string
		refused bool
	}{{"off", true}, {"on", false}, {"local", false}} {
		s, err := postgres.Open(t.Context(), postgres.Config{URL: url + "&synchronous_commit=" + tt.value})
		if err == nil {
			s.Close()
		}
		refused := err != nil && strings.Contains(err.Error(), "synchronous_commit is off") && !errors.Is(err, link.ErrUnavailable)
		if refused != tt.refused || !refused && err != nil {
			t.Errorf("Open with synchronous_commit=%s: %v, want refused %v", tt.value, err, tt.refused)
		}
	}
}

func TestAnotherServerStartsANewEpoch(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	key := link.Key{Code: "k"}
	mustWrite(t, s, create(key, content("https://a.example/")))
	for i, change := range []string{`timeline = timeline + 1`, `system_identifier = system_identifier - 1`} {
		exec(t, url, `UPDATE epoch SET `+change)
		want := uint64(i) + 2
		for range 2 { // the second store finds the row as it should be
			other := openStore(t, url)
			e, err := other.Entry(t.Context(), key)
			if err != nil || e.Epoch != want || e.AsOf != 1 {
				t.Errorf("after %s: entry %+v, %v, want epoch %d at 1", change, e, err, want)
			}
		}
	}
}
