package codes_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/codes"
	"waypost/shared/link"
)

// lessor leases machine 5, by its own clock, unless it is told to fail.
type lessor struct {
	now    func() time.Time
	fail   atomic.Pointer[error]
	leased atomic.Int64
	ends   atomic.Pointer[time.Time] // of the last release
}

func (l *lessor) failWith(err error) { l.fail.Store(&err) }

func (l *lessor) err() error {
	if err := l.fail.Load(); err != nil {
		return *err
	}
	return nil
}

func (l *lessor) LeaseMachine(_ context.Context, _ string, _ int, ttl time.Duration) (id int, from, until time.Time, err error) {
	l.leased.Add(1)
	return 5, l.now(), l.now().Add(ttl), l.err()
}

func (l *lessor) RenewMachine(_ context.Context, _ int, _ string, ttl time.Duration) (time.Time, error) {
	return l.now().Add(ttl), l.err()
}

func (l *lessor) ReleaseMachine(_ context.Context, _ int, _ string, end time.Time) error {
	l.ends.Store(&end)
	return nil
}

// clock is time.Now, moved by an offset.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

func (c *clock) move(d time.Duration) { c.offset.Add(int64(d)) }

// start runs a Snowflake in a synctest bubble until the test's end, and waits
// for its lease.
func start(t *testing.T, leases *lessor, now func() time.Time) *codes.Snowflake {
	t.Helper()
	s := codes.NewSnowflake(leases, codes.SnowflakeConfig{
		Holder: "test", Machine: codes.AnyMachine, TTL: time.Minute, Now: now, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	synctest.Wait()
	advance(10 * time.Millisecond) // into the first whole millisecond of the lease
	return s
}

// advance lets a bubble's clock go on.
func advance(d time.Duration) { <-time.After(d) }

func mustNext(t *testing.T, s *codes.Snowflake) string {
	t.Helper()
	code, err := s.Next(t.Context())
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return code
}

// until moves a bubble's clock, which starts in 2000, to a date.
func until(year int) time.Duration { return time.Until(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)) }

func TestSnowflakeCodesHaveElevenCharactersIn2035(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c clock
		c.move(until(2035))
		s := start(t, &lessor{now: c.now}, c.now)
		a, b := mustNext(t, s), mustNext(t, s)
		if len(a) != 11 || len(b) != 11 || a >= b {
			t.Errorf("codes %q, %q, want two ascending ones of 11 characters", a, b)
		}
	})
}

func TestSnowflakeEndsWithItsBits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c clock
		c.move(until(2094))
		s := start(t, &lessor{now: c.now}, c.now)
		if code, err := s.Next(t.Context()); err == nil {
			t.Errorf("Next = %q in 2094, want an error", code)
		}
	})
}

func TestSnowflakeNeverRepeatsWhenTheClockStepsBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step    time.Duration
		refused bool
	}{{200 * time.Millisecond, false}, {5 * time.Second, true}} {
		t.Run(tt.step.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var c clock
				c.move(until(2026))
				s := start(t, &lessor{now: c.now}, c.now)
				var made []string
				for range 1000 {
					made = append(made, mustNext(t, s))
				}
				advance(time.Second)
				made = append(made, mustNext(t, s))
				c.move(-tt.step)
				_, err := s.Next(t.Context())
				if refused := errors.Is(err, link.ErrUnavailable); refused != tt.refused {
					t.Errorf("Next after a step back of %s: %v, want refused %v", tt.step, err, tt.refused)
				}
				advance(tt.step)
				for range 5000 {
					made = append(made, mustNext(t, s))
				}
				checkDistinct(t, made)
			})
		})
	}
}

func TestSnowflakeRefusesWithoutALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c clock
		c.move(until(2026))
		leases := &lessor{now: c.now}
		leases.failWith(link.ErrUnavailable)
		s := start(t, leases, c.now)
		if code, err := s.Next(t.Context()); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("Next = %q, %v before the first lease, want ErrUnavailable", code, err)
		}
		leases.failWith(nil)
		advance(2 * time.Second)
		first := mustNext(t, s)

		leases.failWith(link.ErrUnavailable)
		advance(39 * time.Second) // two renewals failed, the lease runs on
		second := mustNext(t, s)
		advance(time.Minute)
		if code, err := s.Next(t.Context()); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("Next = %q, %v after the lease, want ErrUnavailable", code, err)
		}
		leases.failWith(nil)
		advance(2 * time.Second)
		checkDistinct(t, []string{first, second, mustNext(t, s)})
	})
}

func TestSnowflakeTakesANewLeaseWhenItsOwnIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c clock
		c.move(until(2026))
		leases := &lessor{now: c.now}
		s := start(t, leases, c.now)
		mustNext(t, s)
		// To the lessor each lease is over before it can be renewed.
		lost := &losing{lessor: leases}
		other := codes.NewSnowflake(lost, codes.SnowflakeConfig{
			Holder: "test", Machine: 5, TTL: time.Minute, Now: c.now, Logger: slog.New(slog.DiscardHandler),
		})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := other.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		if got := leases.leased.Load(); got != 3 {
			t.Errorf("%d leases taken, want 3: one, and one more after a lost one", got)
		}
	})
}

// losing is a lessor whose leases cannot be renewed.
type losing struct{ *lessor }

func (*losing) RenewMachine(context.Context, int, string, time.Duration) (time.Time, error) {
	return time.Time{}, errors.New("lease has ended")
}

func TestSnowflakeRefusesMillisecondsOutsideItsLease(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"ahead": 2 * time.Minute, "behind": -2 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var theirs, ours clock
				theirs.move(until(2026))
				ours.move(until(2026) + skew)
				s := start(t, &lessor{now: theirs.now}, ours.now)
				if code, err := s.Next(t.Context()); !errors.Is(err, link.ErrUnavailable) {
					t.Errorf("Next = %q, %v, want ErrUnavailable", code, err)
				}
			})
		})
	}
}

func TestSnowflakeReleasesAfterItsNewestCode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c clock
		c.move(until(2026))
		leases := &lessor{now: c.now}
		s := codes.NewSnowflake(leases, codes.SnowflakeConfig{
			Holder: "test", Machine: codes.AnyMachine, Now: c.now, Logger: slog.New(slog.DiscardHandler),
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		advance(time.Second)
		mustNext(t, s)
		newest := c.now()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		end := leases.ends.Load()
		if end == nil || !end.After(newest) || end.Sub(newest) > time.Millisecond {
			t.Errorf("released at %v, want within a millisecond after %v", end, newest)
		}
		if code, err := s.Next(t.Context()); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("Next = %q, %v after Run, want ErrUnavailable", code, err)
		}
	})
}

func TestAMillionSnowflakeCodesFromFourGoroutinesAreDistinct(t *testing.T) {
	t.Parallel()
	const each = 250_000
	leases := &lessor{now: time.Now}
	s := codes.NewSnowflake(leases, codes.SnowflakeConfig{
		Holder: "test", Machine: codes.AnyMachine, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running, making sync.WaitGroup
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	defer running.Wait()
	defer cancel()
	waitForLease(t, s)
	made := make([]string, 4*each)
	for g := range 4 {
		making.Go(func() {
			for i := range each {
				code, err := s.Next(ctx)
				if err != nil {
					t.Errorf("Next: %v", err)
					return
				}
				made[g*each+i] = code
			}
		})
	}
	making.Wait()
	checkDistinct(t, made)
}

// waitForLease returns once a code can be made.
func waitForLease(t *testing.T, s *codes.Snowflake) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		_, err := s.Next(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("no lease: %v", err)
		}
	}
}

func checkDistinct(t *testing.T, made []string) {
	t.Helper()
	slices.Sort(made)
	for i := 1; i < len(made); i++ {
		if made[i] == made[i-1] || made[i] == "" {
			t.Fatalf("code %q came twice", made[i])
		}
	}
}
