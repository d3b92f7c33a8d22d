package l2

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// ErrSkipped is what Lookup returns at once while Redis is known not to answer.
var ErrSkipped = errors.New("l2: redis is skipped")

// source is the origin as far as filters need it; its answers are those of
// feed.Changes and feed.Codes. Calls must end with ctx.
type source interface {
	Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error)
	Codes(ctx context.Context, shard int, after link.Key) (*feed.Codes, error)
}

// Config is what a Cache is made of. Redis, Shape, Table, Source and Logger are
// required.
type Config struct {
	// Redis must have ContextTimeoutEnabled, without which Timeout does not
	// reach a socket, and MaxRetries -1, without which a fault takes several.
	// The caller closes it after Run has returned.
	Redis     redis.UniversalClient
	Prefix    string        // of all keys
	TTL       time.Duration // of a value, plus up to 10 %; default 24 h
	AbsentTTL time.Duration // of a value that says "there never was such a link"; default 60 s
	Timeout   time.Duration // of one lookup; default 50 ms. Work that nobody waits for may take 10 times that
	Check     time.Duration // between two looks at all filters, ± 25 %; default 2 s
	Shape     bloom.Shape   // of each shard's filter
	Table     *feed.Table   // where this edge stands
	Source    source
	OnRedis   func(err error) // when Redis stops (err) or goes on (nil) answering, and after each check; must not block
	Logger    *slog.Logger
}

// Cache is the region's Redis as an edge sees it. All methods are safe for
// concurrent use; without Run nothing is written.
type Cache struct {
	cfg      Config
	keys     [feed.Shards]keys
	scripts  scripts
	breaker  breaker
	patience time.Duration // timeout of work that nobody waits for
	born     time.Time

	questions  sync.Pool   // of *question, those that no lookup uses
	gatherings []gathering // one; of a cluster, where a shard is one node's, one a shard
	stores     chan *feed.Entry
	backlog    [feed.Shards]backlog
	woken      chan struct{} // holds a token while a backlog may not be empty
	pressed    chan struct{} // holds one when a backlog is half full
	filters    [feed.Shards]filterState
	writer     writer
	writerKey  string   // of the lease
	token      string   // this run of this edge, as the lease's holder
	mends      chan int // shards whose filter needs a look, each at most once
	failing    atomic.Bool
	count      counters
}

// filterState is what this edge knows of one shard's filter in Redis.
type filterState struct {
	header     atomic.Pointer[bloom.Header] // as last seen there, but for its position, which moves on; Epoch 0: never seen
	want       atomic.Uint64                // M<<32 | K at least
	distrusted atomic.Uint64                // 1<<32 | generation found to be wrong; 0: none
	generation atomic.Uint32                // at the last check; 0: there was none
	queued     atomic.Bool                  // is in mends or being mended
	notBefore  atomic.Int64                 // since born, nanoseconds: not worth another look until then
}

// New makes a Cache.
func New(cfg Config) *Cache {
	cfg.TTL = cmp.Or(cfg.TTL, 24*time.Hour)
	cfg.AbsentTTL = cmp.Or(cfg.AbsentTTL, time.Minute)
	cfg.Timeout = cmp.Or(cfg.Timeout, 50*time.Millisecond)
	cfg.Check = cmp.Or(cfg.Check, 2*time.Second)
	if cfg.OnRedis == nil {
		cfg.OnRedis = func(error) {}
	}
	c := &Cache{
		cfg:      cfg,
		keys:     shardKeys(cfg.Prefix),
		scripts:  newScripts(),
		breaker:  breaker{report: cfg.OnRedis},
		patience: 10 * cfg.Timeout,
		born:     time.Now(),
		stores:   make(chan *feed.Entry, maxStores),
		woken:    make(chan struct{}, 1),
		pressed:  make(chan struct{}, 1),
		mends:    make(chan int, feed.Shards),

		writerKey: cfg.Prefix + ":writer",
		token:     strconv.FormatUint(rand.Uint64(), 36), //nolint:gosec // tells the edges of a region apart, no secret
	}
	c.gatherings = gatherings(cfg.Redis, cfg.Timeout)
	for shard := range c.filters {
		c.filters[shard].learn(bloom.Header{Shape: cfg.Shape})
		c.filters[shard].want.Store(uint64(cfg.Shape.M)<<32 | uint64(cfg.Shape.K))
	}
	return c
}

// Run writes what Store and Applied were given and keeps the filters alive
// until ctx ends. It returns when all its goroutines have ended; the error is
// always nil.
func (c *Cache) Run(ctx context.Context) error {
	var owned sync.WaitGroup
	for range storeWorkers {
		owned.Go(func() { c.storeAll(ctx) })
	}
	for range mendWorkers {
		owned.Go(func() { c.mendAll(ctx) })
	}
	owned.Go(func() { c.applyAll(ctx) })
	owned.Go(func() { c.watch(ctx) })
	owned.Go(func() { c.holdAll(ctx) })
	owned.Wait()
	return nil
}

// learn keeps a header that was seen.
func (f *filterState) learn(h bloom.Header) {
	h.Position = 0
	if seen := f.header.Load(); seen == nil || *seen != h {
		f.header.Store(&h)
	}
}

// known is the header last seen; nothing of it changes within a generation.
func (f *filterState) known() bloom.Header { return *f.header.Load() }

// forget has the next lookup read the whole header of the filter, which is not the
// one that was seen.
func (f *filterState) forget() { f.learn(bloom.Header{Shape: f.known().Shape}) }

func (f *filterState) wanted() bloom.Shape {
	packed := f.want.Load()
	return bloom.Shape{M: uint32(packed >> 32), K: uint32(packed)} //nolint:gosec // two halves
}

func (f *filterState) distrust(generation uint32) { f.distrusted.Store(1<<32 | uint64(generation)) }

func (f *filterState) trusts(generation uint32) bool {
	return f.distrusted.Load() != 1<<32|uint64(generation)
}

// jitter is d within ± 25 %: what many edges do, they do not all do at once.
func jitter(d time.Duration) time.Duration {
	return d - d/4 + rand.N(d/2+1) //nolint:gosec // spread, not secrecy
}

// pause waits for d; false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
