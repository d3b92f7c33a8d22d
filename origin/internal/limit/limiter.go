package limit

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/origin/internal/links"
)

// Config of a Limiter. A zero number takes the default that stands beside it.
type Config struct {
	// Redis is the origins' own Redis; nil leaves each origin to itself. It must
	// honour the deadlines of contexts.
	Redis  redis.UniversalClient
	Prefix string // of every key in Redis, without braces: they mark the hash tag

	Timeout time.Duration // of one command; 100 ms
	Pause   time.Duration // without Redis after a failure, ± 50 %; 1 s
	Table   int           // buckets that an origin keeps while Redis is away; 8192

	Now func() time.Time // of the buckets of an origin alone; time.Now
}

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = 100 * time.Millisecond
	}
	if c.Pause <= 0 {
		c.Pause = time.Second
	}
	if c.Table <= 0 {
		c.Table = 8192
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Limiter gives each API key the tokens of its allowance: in any time t at most
// Burst + Rate × t, whatever origins they are asked from.
//
// While Redis does not answer, each origin has a bucket of its own for a key,
// full at first, so that a key gets at most that many from each. What was given
// meanwhile is not charged later.
//
// Safe for concurrent use.
type Limiter struct {
	now     func() time.Time
	shared  *shared // nil without Redis
	breaker breaker
	local   *local

	given, refused, alone atomic.Uint64
}

// New returns a Limiter. It does not talk to Redis yet.
func New(cfg Config) *Limiter {
	cfg = cfg.withDefaults()
	l := &Limiter{now: cfg.Now, breaker: breaker{pause: cfg.Pause}, local: newLocal(cfg.Table)}
	if cfg.Redis != nil {
		l.shared = &shared{
			client: cfg.Redis, script: redis.NewScript(bucketScript), prefix: cfg.Prefix, timeout: cfg.Timeout,
		}
	}
	return l
}

// Take takes as many of the tokens asked for as the key's bucket has; asked for
// none, it only says what is left. The allowance must be a valid one, and may be
// another at each call: a bucket that is left with more debt than it holds is an
// empty one. Take waits for Redis at most for the timeout, and not while Redis is
// known to be away; it always has an answer.
func (l *Limiter) Take(ctx context.Context, key string, a links.Allowance, asked int) links.Grant {
	b := bucketOf(a)
	given, left, ok := l.ask(ctx, key, b, int64(asked))
	if !ok {
		l.alone.Add(1)
		given, left = l.local.take(key, b, l.now().UnixMicro(), int64(asked))
	}
	l.given.Add(uint64(given))                  //nolint:gosec // 0 to asked
	l.refused.Add(uint64(int64(asked) - given)) //nolint:gosec // 0 to asked
	return b.grant(given, left)
}

// ask asks Redis; ok is false where it does not answer.
func (l *Limiter) ask(ctx context.Context, key string, b bucket, asked int64) (given, left int64, ok bool) {
	if l.shared == nil || !l.breaker.allow() {
		return 0, 0, false
	}
	given, left, err := l.shared.take(ctx, key, b, asked)
	l.breaker.report(ctx, err)
	return given, left, err == nil
}

// Stats counts since New.
type Stats struct {
	Given   uint64 // tokens given
	Refused uint64 // tokens asked for in vain
	Alone   uint64 // calls of Take that Redis had no part in
}

// Stats is a snapshot; its numbers are exact each, not all of one instant.
func (l *Limiter) Stats() Stats {
	return Stats{Given: l.given.Load(), Refused: l.refused.Load(), Alone: l.alone.Load()}
}
