package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/services"
	"waypost/shared/feed"
)

// statements records what is sent to PostgreSQL.
type statements struct {
	mu   sync.Mutex
	sent []string
	args [][]any // of each
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.args = append(s.sent, data.SQL), append(s.args, data.Args)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// take returns what was sent since the last call.
func (s *statements) take() []string {
	sent, _ := s.takeWithArgs()
	return sent
}

func (s *statements) takeWithArgs() (sent []string, args [][]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, args = s.sent, s.args
	s.sent, s.args = nil, nil
	return sent, args
}

// open opens a migrated store whose statements are recorded.
func open(t *testing.T) (*Store, *statements) {
	t.Helper()
	config := Config{URL: services.Postgres(t), MaxConns: 2, StatementTimeout: time.Minute}
	cfg, err := config.pool()
	if err != nil {
		t.Fatalf("pool: %v", err)
	}
	sent := &statements{}
	cfg.ConnConfig.Tracer = sent
	s, err := connect(t.Context(), config, cfg)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	return s, sent
}

func TestARosterIsOneStatement(t *testing.T) {
	t.Parallel()
	s, sent := open(t)
	for name, read := range map[string]func() error{
		"Roster": func() error { _, err := s.Roster(t.Context()); return err },
		"Heads":  func() error { _, err := s.Heads(t.Context()); return err },
	} {
		sent.take()
		if err := read(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := sent.take(); !slices.Equal(got, []string{readRoster}) {
			t.Errorf("%s sent %d statements %q, want one", name, len(got), got)
		}
	}
}

// TestChangesReadNoMoreThanTheyAnswer looks at the plan of a read from the
// start of a shard with many changes in two partitions.
func TestChangesReadNoMoreThanTheyAnswer(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	today, err := s.today(t.Context())
	if err != nil {
		t.Fatalf("today: %v", err)
	}
	for day := range 2 {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO outbox SELECT n % 10, $1::int + n / 10 + 1, 2, $2, '', 'c', '\x00'
			FROM generate_series(0, 29999) n`, day*3000, today.AddDate(0, 0, day))
		if err != nil {
			t.Fatalf("fill: %v", err)
		}
	}
	for _, statement := range []string{`ANALYZE`, `SET plan_cache_mode = force_generic_plan`} {
		if _, err := s.pool.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	rows, err := s.pool.Query(t.Context(), `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) `+readChanges,
		3, 0, feed.MaxChanges, maxChangesBytes)
	if err != nil {
		t.Fatalf("explain: %v", err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("explain: %v", err)
	}
	plan := strings.Join(lines, "\n")
	name := outboxPartitions().name(today)
	scan := fmt.Sprintf("Index Scan using %[1]s_pkey on %[1]s", name)
	if !strings.Contains(plan, scan) || !strings.Contains(plan, fmt.Sprintf("(actual rows=%d ", feed.MaxChanges)) ||
		strings.Contains(plan, "rows=3000 ") {
		t.Errorf("plan reads more than %d changes by the index of %s:\n%s", feed.MaxChanges, name, plan)
	}
}
