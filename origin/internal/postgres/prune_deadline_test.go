package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/link"
)

// Prune is called without a deadline, at the start as well, where everything
// would wait for it.
func TestPruningAServerThatHangsEnds(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s, err := Open(t.Context(), Config{URL: pg.URL(), StatementTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	today, err := s.today(t.Context())
	if err != nil {
		t.Fatalf("today: %v", err)
	}
	pg.Pause()
	defer pg.Resume()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var calls sync.WaitGroup
	for name, call := range map[string]func() error{
		"Prune":            func() error { return s.Prune(ctx) },
		"createPartitions": func() error { return s.createPartitions(ctx, outboxPartitions(), today) },
		"dropPartitions":   func() error { return s.dropPartitions(ctx, outboxPartitions(), today) },
		"dropPartition":    func() error { return s.dropPartition(ctx, outboxPartitions(), outboxPartitions().name(today)) },
		"pruneDefault":     func() error { return s.pruneDefault(ctx, outboxPartitions(), today) },
		"pruneMembers":     func() error { return s.pruneMembers(ctx) },
		"moveHorizon":      func() error { _, err := s.moveHorizon(ctx, today); return err },
		"pruneOrphans":     func() error { return s.pruneOrphans(ctx, today) },
		"pruneGone":        func() error { return s.pruneGone(ctx, today) },
		"pruneMarks":       func() error { return s.pruneMarks(ctx) },
	} {
		calls.Go(func() {
			if err := call(); !errors.Is(err, link.ErrUnavailable) {
				t.Errorf("%s: %v, want ErrUnavailable", name, err)
			}
			if ctx.Err() != nil {
				t.Errorf("%s went on until its caller gave up", name)
			}
		})
	}
	calls.Wait()
}
