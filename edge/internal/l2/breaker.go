package l2

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// The breaker opens after so many failures in a row, for a time that doubles
// with every probe that fails.
const (
	breakAfter = 5
	minBreak   = 100 * time.Millisecond
	maxBreak   = 2 * time.Second
)

// breaker keeps lookups away from a Redis that does not answer: each would
// cost its visitor a timeout. While it is open one probe at a time goes through
// when its pause has passed, and only the probe's outcome counts. Safe for
// concurrent use; the zero value with report set is closed.
type breaker struct {
	report   func(err error) // err when it opens, nil when it closes
	failures atomic.Int32    // in a row, while closed
	open     atomic.Bool     // written under mu

	mu      sync.Mutex
	until   time.Time
	length  time.Duration // of the last pause
	probing bool
}

// outcome of an attempt that enter let through.
type outcome uint8

const (
	answered outcome = iota
	failed
	unknown // the caller went away first
)

// enter reports whether an attempt may be made; leave must follow, with probe.
func (b *breaker) enter() (probe, ok bool) {
	if !b.open.Load() {
		return false, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open.Load() {
		return false, true
	}
	if b.probing || time.Now().Before(b.until) {
		return false, false
	}
	b.probing = true
	return true, true
}

// leave ends an attempt. err is reported if it opens the breaker.
func (b *breaker) leave(probe bool, how outcome, err error) {
	if how == answered && !probe {
		if b.failures.Load() != 0 {
			b.failures.Store(0)
		}
		return
	}
	if !probe && (how == unknown || b.failures.Add(1) < breakAfter) {
		return
	}
	if b.turn(probe, how) {
		if how == answered {
			err = nil
		}
		b.report(err)
	}
}

// turn reports whether the breaker opened or closed. Attempts that began before
// it opened end here too, and change nothing.
func (b *breaker) turn(probe bool, how outcome) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.open.Load()
	if was && !probe {
		return false
	}
	if probe {
		b.probing = false
	}
	switch how {
	case unknown:
		return false
	case answered:
		b.failures.Store(0)
		b.length = 0
		b.open.Store(false)
		return was
	case failed:
	}
	b.length = min(max(2*b.length, minBreak), maxBreak)
	b.until = time.Now().Add(b.length/2 + rand.N(b.length/2+1)) //nolint:gosec // spread, not secrecy
	b.open.Store(true)
	return !was
}
