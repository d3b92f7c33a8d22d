package limit

import (
	"context"
	"sync"
	"testing"
	"time"
)

// The bound in Limiter's comment, over some seconds, with two edges that settle
// as Run does, and the longest window that there really was.
func TestAsyncOverAdmissionIsBounded(t *testing.T) {
	t.Parallel()
	const rate, burst, span = 50, 40, 3 * time.Second
	for name, local := range map[string]int{"whole burst ahead": burst, "an eighth ahead": burst / 8} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edges := asyncEdges(t, 2, Config{Rate: rate, Burst: burst, LocalBurst: local})
			ctx, cancel := context.WithTimeout(t.Context(), span)
			defer cancel()
			windows := make([]time.Duration, len(edges))
			var wg sync.WaitGroup
			start := time.Now()
			for i, e := range edges {
				wg.Go(func() { windows[i] = settleUntil(ctx, t, e) })
				for range 2 {
					wg.Go(func() { ask(ctx, e.Limiter, 500*time.Microsecond) })
				}
			}
			wg.Wait()
			elapsed, window := time.Since(start), max(windows[0], windows[1])

			got := float64(edges[0].Stats().Admitted + edges[1].Stats().Admitted)
			paid := burst + rate*elapsed.Seconds()
			excess := float64(len(edges)) * (float64(local) + rate*window.Seconds())
			t.Logf("in %v, window %v: admitted %.0f, paid for %.1f, bound %.1f", elapsed, window, got, paid, paid+excess)
			if got > paid+excess {
				t.Errorf("in %v: admitted %.0f, want at most %.1f", elapsed, got, paid+excess)
			}
			if got < burst {
				t.Errorf("in %v: admitted %.0f, want at least the burst of %d", elapsed, got, burst)
			}
		})
	}
}

// settleUntil settles as Run does until ctx ends, and returns the longest time
// from the start of a round to the end of the next.
func settleUntil(ctx context.Context, t *testing.T, e edge) (longest time.Duration) {
	t.Helper()
	last := time.Now()
	for ctx.Err() == nil {
		start := time.Now()
		pause := e.settleNow(t) //nolint:contextcheck // a round that has begun is not cut off
		longest, last = max(longest, time.Since(last)), start
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return max(longest, time.Since(last))
}

// ask asks for the visitor's admission at every tick until ctx ends.
func ask(ctx context.Context, l *Limiter, tick time.Duration) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.Allow(ctx, visitor)
		}
	}
}
