package stampede

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// breaker keeps a Redis that fails out of the way: after a failure nobody asks
// it for a pause, then one caller tries. So a dead Redis costs one timeout a
// pause, and what was under way when it died. The zero state is working. Safe
// for concurrent use.
type breaker struct {
	pause   time.Duration // ± 50 %, so that origins do not try in step
	onState func(error)   // may be nil

	mu      sync.Mutex // held over onState, to keep its calls in order
	open    bool
	retryAt time.Time // of the next try, while open
}

// allow reports whether the caller may ask Redis, and must then report.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	now := time.Now()
	if now.Before(b.retryAt) {
		return false
	}
	b.retryAt = now.Add(b.jittered()) // the others wait for this caller's report
	return true
}

// report takes the outcome of a command that allow let through. A command that
// failed because its caller's own time was up says nothing about Redis.
func (b *breaker) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := b.open != (err != nil)
	b.open = err != nil
	if b.open {
		b.retryAt = time.Now().Add(b.jittered())
	}
	if changed && b.onState != nil {
		b.onState(err)
	}
}

func (b *breaker) jittered() time.Duration {
	return b.pause/2 + rand.N(b.pause) //nolint:gosec // spreads retries, keeps no secret
}
