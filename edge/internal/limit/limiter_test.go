package limit

import (
	"sync"
	"testing"
	"time"
)

func TestLocalBucketAdmitsBurstThenRate(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Async, Exact} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			var h hand
			l := mustNew(t, Config{Mode: mode, Rate: 50, Burst: 100, Clock: h.clock})
			if got := admitted(t, l, visitor, 150); got != 100 {
				t.Errorf("at once: admitted %d, want the burst of 100", got)
			}
			if got, want := l.Allow(t.Context(), visitor), (Decision{RetryAfter: 1}); got != want {
				t.Errorf("Allow: got %+v, want %+v", got, want)
			}
			h.advance(100 * time.Millisecond)
			if got := admitted(t, l, visitor, 20); got != 5 {
				t.Errorf("100 ms later: admitted %d, want 5", got)
			}
			h.advance(time.Hour)
			if got := admitted(t, l, visitor, 150); got != 100 {
				t.Errorf("an hour later: admitted %d, want the burst of 100", got)
			}
			if got := admitted(t, l, network(1), 150); got != 100 {
				t.Errorf("another client: admitted %d, want the burst of 100", got)
			}
			if got := l.Stats(); got.Admitted != 305 || got.Limited != 166 || got.RedisUp {
				t.Errorf("Stats: got %+v, want 305 admitted, 166 limited, Redis not up", got)
			}
		})
	}
}

func TestRetryAfterIsTheTimeToTheNextToken(t *testing.T) {
	t.Parallel()
	var h hand
	l := mustNew(t, Config{Rate: 0.1, Burst: 2, Clock: h.clock})
	admitted(t, l, visitor, 2)
	for _, want := range []int{10, 7, 4, 1} {
		if got := l.Allow(t.Context(), visitor); got != (Decision{RetryAfter: want}) {
			t.Errorf("Allow at %v: got %+v, want RetryAfter %d", h.clock(), got, want)
		}
		h.advance(3 * time.Second)
	}
	if got := l.Allow(t.Context(), visitor); !got.OK {
		t.Errorf("Allow at %v: got %+v, want OK", h.clock(), got)
	}
}

func TestParallelRequestsNeverExceedTheLocalBucket(t *testing.T) {
	t.Parallel()
	const callers, calls, burst = 16, 500, 100
	for name, redis := range map[string]bool{"ahead of settling": true, "without Redis": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h hand
			cfg := Config{Rate: 50, Burst: burst, Clock: h.clock}
			if redis {
				cfg.Redis = untouchable(t)
			}
			l := mustNew(t, cfg)
			for round := range 20 {
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() { admitted(t, l, visitor, calls/20) })
				}
				wg.Wait()
				if got, want := l.Stats().Admitted, uint64(burst+5*round); got != want {
					t.Fatalf("after %v: admitted %d, want %d", h.clock(), got, want)
				}
				h.advance(100 * time.Millisecond)
			}
		})
	}
}

// Time moves while requests run; the total may never be ahead of it.
func TestParallelRequestsNeverExceedTheRefill(t *testing.T) {
	t.Parallel()
	const callers, burst, rate, ticks = 8, 10, 1000, 2000
	var h hand
	l := mustNew(t, Config{Rate: rate, Burst: burst, Clock: h.clock, Redis: untouchable(t)})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					l.Allow(t.Context(), visitor)
				}
			}
		})
	}
	for tick := range ticks {
		h.advance(time.Millisecond)
		if got, most := l.Stats().Admitted, uint64(burst+tick+1); got > most {
			t.Errorf("after %d ms: admitted %d, want at most %d", tick+1, got, most)
			break
		}
	}
	close(stop)
	wg.Wait()
}

func TestOffAdmitsEverything(t *testing.T) {
	t.Parallel()
	l := mustNew(t, Config{Mode: Off, Redis: untouchable(t)})
	running(t, l)
	if got := admitted(t, l, visitor, 1000); got != 1000 {
		t.Errorf("admitted: got %d, want all 1000", got)
	}
	if got := l.Policy(); got != "" {
		t.Errorf("Policy: got %q, want none", got)
	}
	if got := l.Stats(); got != (Stats{}) {
		t.Errorf("Stats: got %+v, want zeros", got)
	}
}

func TestAsyncAllowDoesNotAllocate(t *testing.T) {
	var h hand
	tests := []struct {
		name string
		rate float64
		ok   bool
	}{{"admitted", 1e6, true}, {"refused", 0.01, false}}
	for _, tt := range tests {
		l := mustNew(t, Config{Rate: tt.rate, Burst: 1, Clock: h.clock, Redis: untouchable(t)})
		l.Allow(t.Context(), visitor)
		ctx := t.Context()
		allocs := testing.AllocsPerRun(1000, func() {
			h.advance(time.Microsecond)
			if got := l.Allow(ctx, visitor); got.OK != tt.ok {
				t.Fatalf("%s: got %+v, want OK %v", tt.name, got, tt.ok)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: got %v allocations, want 0", tt.name, allocs)
		}
	}

	l, n := mustNew(t, Config{Rate: 1, Burst: 1, Clock: h.clock}), 0
	if got := testing.AllocsPerRun(10_000, func() { n++; l.Allow(t.Context(), network(n)) }); got != 0 {
		t.Errorf("new clients: got %v allocations, want 0", got)
	}
}
