package stampede

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Config of a Loader. A zero number takes the default that stands beside it.
type Config struct {
	// Redis is the origins' own Redis; nil leaves each origin to itself. It
	// must honour the deadlines of contexts, as what Connect returns does.
	Redis  redis.UniversalClient
	Prefix string // of every key in Redis, without braces: they mark the hash tag

	Wait      time.Duration // how long to wait for another origin's load; 100 ms
	Poll      time.Duration // between two looks at the lock, ± 50 %; 10 ms
	LockTTL   time.Duration // after which the lock of a dead holder is free; 1 s
	ResultTTL time.Duration // how long a result stays beside the lock; 1 s

	RedisTimeout time.Duration // of one command; 100 ms
	RedisPause   time.Duration // without Redis after a failure, ± 50 %; 1 s

	Deadline time.Duration // of one load in all, waiting included; Wait + 2 s

	MaxLoads   int // loads that run at the same time; 64
	MaxFlights int // loads under way in all, those that wait included; 4096

	// NoSingleflight makes every Load one of its own, which leaves the lock as
	// the only protection. For tests of the lock.
	NoSingleflight bool

	// OnRedis is called with an error when Redis stops being used and with nil
	// when it is used again, in that order, never twice in a row with the same.
	// It must be quick and must not call the Loader. May be nil.
	OnRedis func(error)
}

func (c Config) withDefaults() Config {
	orDefault(&c.Wait, 100*time.Millisecond)
	orDefault(&c.Poll, 10*time.Millisecond)
	orDefault(&c.LockTTL, time.Second)
	orDefault(&c.ResultTTL, time.Second)
	orDefault(&c.RedisTimeout, 100*time.Millisecond)
	orDefault(&c.RedisPause, time.Second)
	orDefault(&c.Deadline, c.Wait+2*time.Second)
	orDefault(&c.MaxLoads, 64)
	orDefault(&c.MaxFlights, 4096)
	return c
}

func orDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Loader loads entries, each at most once at a time wherever that can be had.
// The lock is an economy, not a guarantee: whether a result may be used is
// decided by its position alone. All methods are safe for concurrent use.
type Loader struct {
	cfg   Config
	load  func(context.Context, link.Key) (*feed.Entry, error)
	lock  *lock         // nil without Redis
	slots chan struct{} // one for each load that runs
	count counters

	mu      sync.Mutex
	flights map[want]*flight
	serial  uint64 // tells flights of one key apart when none may be joined
	closed  bool
	owned   sync.WaitGroup // every flight's goroutine
}

// New makes a Loader around load, which must read value and position from one
// snapshot of the primary and end with its context. It starts no goroutine.
func New(cfg Config, load func(context.Context, link.Key) (*feed.Entry, error)) *Loader {
	cfg = cfg.withDefaults()
	l := &Loader{
		cfg:     cfg,
		load:    load,
		slots:   make(chan struct{}, cfg.MaxLoads),
		flights: make(map[want]*flight),
	}
	if cfg.Redis != nil {
		l.lock = newLock(cfg)
	}
	return l
}

// Load returns the entry of key. If it is of this epoch, its position is at
// least minSeq; an entry of another epoch is answered as it is. The load goes
// on for others, up to Config.Deadline, when ctx ends.
//
// Errors: those of load, link.ErrUnavailable when there was no turn before the
// deadline, too much is under way, the Loader is closed, or PostgreSQL is
// behind minSeq; the context's when ctx ended.
func (l *Loader) Load(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error) {
	f, err := l.board(ctx, want{key: key, epoch: epoch, minSeq: minSeq})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", key, err)
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("load %s: %w", key, ctx.Err())
	}
	if f.err != nil {
		return nil, fmt.Errorf("load %s: %w", key, f.err)
	}
	return f.entry, nil
}

// Ping takes the lock of no link and frees it, as a fill does with that of its
// own, and returns why Redis cannot be used: nil also where there is none. It
// ends the pause after a failure, so that a Loader without loads finds out too
// that Redis is back.
func (l *Loader) Ping(ctx context.Context) error {
	if l.lock == nil {
		return nil
	}
	return l.lock.ping(ctx)
}

// Close refuses further loads and returns when those under way have ended,
// which they do within Config.Deadline and one command to Redis.
func (l *Loader) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.owned.Wait()
}
