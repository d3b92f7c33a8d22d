package codes_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/codes"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
)

func newStore(t *testing.T) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: services.Postgres(t), MaxConns: 8})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	return s
}

func snowflake(s *postgres.Store, holder string, machine int, ttl time.Duration) *codes.Snowflake {
	return codes.NewSnowflake(s, codes.SnowflakeConfig{
		Holder: holder, Machine: machine, TTL: ttl, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
}

func TestTwoProcessesNeverShareAMachineID(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var made []string
	var both []*codes.Snowflake
	for _, holder := range []string{"a", "b"} {
		f := snowflake(s, holder, codes.AnyMachine, time.Minute)
		wg.Go(func() {
			if err := f.Run(ctx); err != nil {
				t.Errorf("Run %s: %v", holder, err)
			}
		})
		both = append(both, f)
	}
	for _, f := range both {
		waitForLease(t, f)
	}
	for range 10_000 { // in the same milliseconds: only the machine tells them apart
		for _, f := range both {
			made = append(made, mustNext(t, f))
		}
	}
	checkDistinct(t, made)
}

func TestAFixedMachineIDIsRefusedWhileHeld(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := snowflake(s, "first", 7, time.Minute)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- first.Run(ctx) }()
	waitForLease(t, first)
	if err := snowflake(s, "second", 7, time.Minute).Run(t.Context()); err == nil || errors.Is(err, link.ErrUnavailable) {
		t.Errorf("Run with a held machine id: %v, want a refusal", err)
	}
	mustNext(t, first)
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	// Given back, it is free for a successor from the next millisecond on.
	leaseSoon(t, s, "third", 7)
}

// leaseSoon returns once holder has the machine id, or fails the test long
// before a lease of a minute would have ended by itself.
func leaseSoon(t *testing.T, s *postgres.Store, holder string, machine int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		_, _, _, err := s.LeaseMachine(ctx, holder, machine, time.Minute)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("machine id %d is not free: %v", machine, err)
		}
	}
}

func TestCounterCodesStartAtQ0V(t *testing.T) {
	t.Parallel()
	c := codes.New(nil, codes.NewCounter(newStore(t)))
	for _, want := range []string{"q0V", "q0W", "q0X"} {
		if got, err := c.Next(t.Context(), "counter"); err != nil || got != want {
			t.Errorf("Next = %q, %v, want %q", got, err, want)
		}
	}
}

// forgetful is a lessor whose answer to the first lease is lost on its way.
type forgetful struct {
	*postgres.Store
	lost atomic.Bool
}

func (l *forgetful) LeaseMachine(ctx context.Context, holder string, fixed int, ttl time.Duration) (int, time.Time, time.Time, error) {
	id, from, until, err := l.Store.LeaseMachine(ctx, holder, fixed, ttl)
	if err == nil && l.lost.CompareAndSwap(false, true) {
		return 0, time.Time{}, time.Time{}, link.ErrUnavailable
	}
	return id, from, until, err
}

func TestAFixedMachineIDIsHadAfterALostAnswer(t *testing.T) {
	t.Parallel()
	f := codes.NewSnowflake(&forgetful{Store: newStore(t)}, codes.SnowflakeConfig{
		Holder: "a", Machine: 7, TTL: time.Minute, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	waitForLease(t, f)
	mustNext(t, f)
}
