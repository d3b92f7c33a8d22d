package limit

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Limiter limits each client to Rate requests a second and bursts of Burst: a
// token bucket in the region's Redis that all edges of the region share.
//
// # Mode Exact
//
// Every request asks Redis, in one round trip, before anything else. In any
// time t no client is admitted more than Burst + Rate × t times in the region.
//
// # Mode Async
//
// Every request is decided in this edge's memory at once. Run tells Redis every
// Settle what was admitted, even where that leads the shared bucket into debt,
// and learns what the bucket holds. Between two rounds the edge spends at most
// what it last knew the bucket to hold, and at most LocalBurst, and what Rate
// has added since; it admits nothing while it last knew the bucket to be empty
// or in debt. So in any time t a client is admitted, in a region, at most
//
//	Burst + Rate × t + edges × (LocalBurst + Rate × (Settle + one round trip))
//
// times: the first part is what the shared bucket pays for. The second is what
// can be admitted and not yet be charged while the bucket runs dry: an edge
// hears of it at the latest in the round after the one that did not show it, and
// from what one round left it to the answer of the next it spends LocalBurst and
// the refill of that time. The debt is paid off before anything more is
// admitted, so that the excess is had once, not in every t. A single edge knows
// all there is to know and exceeds nothing but by its refill of one round trip.
//
// An edge that starts anew counts as one more edge. A round that takes longer
// than Settle, because Redis is asked about very many clients, or because an
// attempt failed, stands in for Settle in the formula; Stats.Window says how
// long the last one was.
//
// # Without Redis
//
// Where Redis is not configured, or failed three times in a row, each edge limits
// by its own buckets alone, of the full Burst and Rate, and a client has as many
// buckets as there are edges. In mode Exact that holds too for each single
// request that Redis did not answer in time. When Redis is back, each edge in mode
// Async charges a client at most LocalBurst of what it spent meanwhile.
//
// Safe for concurrent use.
type Limiter struct {
	mode     Mode
	clock    func() time.Duration
	settle   time.Duration
	onRedis  func(error)
	policy   string
	interval int64 // µs a token
	depth    int64 // µs of a full bucket
	ahead    int64 // µs of what may be spent ahead of settling: LocalBurst
	table    *table
	shared   *shared // nil without Redis
	health   health

	settled      atomic.Uint64
	settleErrors atomic.Uint64
	window       atomic.Int64 // ns
}

// New returns a limiter, or every fault of cfg. It starts nothing and does not
// talk to Redis; in modes Async and Exact its Run must be running for as long
// as it is used.
func New(cfg Config) (*Limiter, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	l := &Limiter{mode: cfg.Mode, clock: cfg.Clock, settle: cfg.Settle, onRedis: cfg.OnRedis}
	if cfg.Mode == Off {
		return l, nil
	}
	l.interval = cfg.interval()
	l.depth = int64(cfg.Burst) * l.interval
	l.ahead = int64(cfg.LocalBurst) * l.interval
	l.policy = policyOf(cfg.Burst, time.Duration(l.depth)*time.Microsecond)
	l.table = newTable(cfg.Table)
	if cfg.Redis != nil {
		l.shared = &shared{
			client:   cfg.Redis,
			script:   redis.NewScript(bucketScript),
			prefix:   cfg.Prefix,
			interval: l.interval,
			depth:    l.depth,
			timeout:  cfg.Timeout,
		}
	}
	return l, nil
}

// Allow decides about one request of client and takes its token. In mode Async
// it neither waits nor allocates. In mode Exact it waits for Redis, at most for
// Timeout, and not while Redis is known to be away; ctx ends the wait earlier,
// and the request is then decided without Redis.
func (l *Limiter) Allow(ctx context.Context, client Client) Decision {
	if l.mode == Off {
		return Decision{OK: true}
	}
	id := client.id()
	set := l.table.set(id)
	d, decided := Decision{}, false
	if l.mode == Exact && !l.alone() {
		d, decided = l.ask(ctx, id)
	}
	if !decided {
		d = l.admit(set, id)
	}
	if d.OK {
		set.admitted.Add(1)
	} else {
		set.limited.Add(1)
	}
	return d
}

// alone says that this edge has to do without Redis.
func (l *Limiter) alone() bool { return l.shared == nil || l.health.open.Load() }

// ask decides by the shared bucket; decided is false where it did not answer.
func (l *Limiter) ask(ctx context.Context, id clientID) (d Decision, decided bool) {
	taken, credit, err := l.shared.take(ctx, id)
	switch {
	case err == nil:
		l.health.answered()
	case ctx.Err() != nil:
		return Decision{}, false // the caller gave up, which says nothing about Redis
	default:
		l.health.failed(err)
		return Decision{}, false
	}
	if !taken {
		return refusal(l.interval - credit), true
	}
	return Decision{OK: true}, true
}

// admit decides by the local bucket.
func (l *Limiter) admit(set *set, id clientID) Decision {
	now := l.now()
	depth, alone := l.ahead, false
	if l.mode == Exact || l.alone() {
		depth, alone = l.depth, true
	}
	for {
		slot := l.table.slot(set, id, now, depth)
		before := bucket(slot.state.Load())
		after, wait, ok := before.spend(now, depth, l.interval, alone)
		if !ok {
			// Nothing is written: refusing a flood costs the cores no cache line
			// but the counter's.
			return refusal(wait)
		}
		if slot.state.CompareAndSwap(uint64(before), uint64(after)) {
			return Decision{OK: true}
		}
	}
}

// now is the time in µs.
func (l *Limiter) now() int64 { return l.clock().Microseconds() }
