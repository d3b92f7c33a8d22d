package spool

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain also is the main of the child processes of these tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("SPOOL_TEST_CHILD"); role != "" {
		children()[role](os.Getenv("SPOOL_TEST_DIR"), os.Getenv("SPOOL_TEST_CANDIDATE"))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// begin runs a spool until stop is called (at the latest when the test ends),
// which also closes it. stop returns what Run returned.
func begin(tb testing.TB, s *Spool) (stop func() error) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	eventually(tb, "the writer to start", func() bool { return !s.Stats().Stalled })
	stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
		return err
	})
	tb.Cleanup(func() { _ = stop() })
	return stop
}

// start opens a spool and begins. Its stop expects that nothing is lost.
func start(tb testing.TB, cfg Config) (s *Spool, stop func()) {
	tb.Helper()
	s, err := Open(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	end := begin(tb, s)
	return s, func() {
		tb.Helper()
		if err := end(); err != nil {
			tb.Error(err)
		}
	}
}

// eventually waits for a condition.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	for range 20_000 {
		if holds() {
			return
		}
		<-t.C
	}
	tb.Fatalf("waited in vain for %s", what)
}
