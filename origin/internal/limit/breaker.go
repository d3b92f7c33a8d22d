package limit

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// breaker keeps a Redis that fails out of the way: after a failure nobody asks
// it for a pause, then one caller tries. The zero retryAt is working. Safe for
// concurrent use.
type breaker struct {
	pause   time.Duration // ± 50 %, so that origins do not try in step
	retryAt atomic.Int64  // ns since 1970; 0: Redis works
}

// allow reports whether the caller may ask Redis, and must then report.
func (b *breaker) allow() bool {
	at := b.retryAt.Load()
	if at == 0 {
		return true
	}
	now := time.Now()
	// Whoever swaps is the one that tries; the others wait for its report.
	return now.UnixNano() >= at && b.retryAt.CompareAndSwap(at, b.next(now))
}

// report takes the outcome of a command that allow let through. A command that
// failed because its caller's own time was up says nothing about Redis.
func (b *breaker) report(ctx context.Context, err error) {
	switch {
	case err == nil:
		b.retryAt.Store(0)
	case ctx.Err() == nil:
		b.retryAt.Store(b.next(time.Now()))
	}
}

func (b *breaker) next(now time.Time) int64 {
	wait := b.pause/2 + rand.N(b.pause) //nolint:gosec // spreads retries, keeps no secret
	return now.Add(wait).UnixNano()
}
