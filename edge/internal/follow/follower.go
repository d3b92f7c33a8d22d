package follow

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
)

const (
	probeEvery   = 200 * time.Millisecond
	probeApart   = 20 * time.Millisecond // at least, whoever asks for one
	probeTimeout = time.Second
	gapPatience  = 20 * time.Millisecond // a change on its way may still fill the gap
	tick         = 10 * time.Millisecond
	fetchTimeout = 5 * time.Second
	maxPending   = 1024 // later changes kept for one shard while earlier ones are missing
	maxFetches   = 8    // shards caught up at once
	maxMessages  = 8192 // feed messages waiting to be applied; beyond, they are dropped and fetched
	maxProbes    = 4    // probes in flight
)

// origin is where heads and missing changes come from.
type origin interface {
	Heads(ctx context.Context) (*feed.Heads, error)
	Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error)
	Config(ctx context.Context) (*feed.Config, error)
}

// Config is what a Follower is made of. The functions are called from the
// follower's one goroutine and must not block.
type Config struct {
	Table   *feed.Table
	Origin  origin
	NATS    *nats.Conn // nil: probes and fetches alone
	Prefix  string     // of the feed's subjects
	Logger  *slog.Logger
	Applied func(*feed.Change) // after the table has applied it
	Probed  func(err error)    // after each probe
	Fault   func(err error)    // a feed message that cannot be read; from another goroutine
}

// Follower is the only writer of its table.
type Follower struct {
	cfg   Config
	clock Clock

	config atomic.Pointer[feed.Config]
	early  chan struct{} // asks for a probe at once

	messages chan *feed.Change
	heads    chan probed
	fetched  chan fetched
	configs  chan configured
	work     sync.WaitGroup // the goroutines that ask the origin

	shard    [feed.AllShards]progress
	probes   int
	wanted   bool // a probe before the next one is due
	fetches  int
	fetching bool // the config

	dropped, gaps, caughtUp atomic.Uint64
}

// progress is what the follower keeps of one shard beside the table.
type progress struct {
	pending map[uint64]*feed.Change // later changes, by position
	head    uint64                  // the highest position known to exist
	gapAt   time.Time               // when a missing change was first noticed; zero: none
	retryAt time.Time               // not before this, after a failed fetch
	fails   int
	fetch   bool // one is on its way
}

type probed struct {
	heads    *feed.Heads
	sent     time.Time
	received time.Time
	err      error
}

type fetched struct {
	shard   int
	epoch   uint64
	changes *feed.Changes
	err     error
}

type configured struct {
	config *feed.Config
	err    error
}

// New makes a Follower; Run makes it work.
func New(cfg Config) *Follower {
	return &Follower{
		cfg:      cfg,
		early:    make(chan struct{}, 1),
		messages: make(chan *feed.Change, maxMessages),
		heads:    make(chan probed, maxProbes),
		fetched:  make(chan fetched, maxFetches),
		configs:  make(chan configured, 1),
	}
}

// Now is PostgreSQL's clock in microseconds since 1970, as estimated from the
// probes; this machine's own clock until the first one. Safe for concurrent
// use.
func (f *Follower) Now() int64 { return f.clock.Now() }

// Settings is the config shard as it is held, or nil before it was fetched.
// Safe for concurrent use.
func (f *Follower) Settings() *feed.Config { return f.config.Load() }

// Probe asks for a probe at once, as when a newer epoch was seen. It does not
// block and is safe for concurrent use.
func (f *Follower) Probe() {
	select {
	case f.early <- struct{}{}:
	default:
	}
}

// Stats counts since the start: feed messages dropped because too many waited,
// gaps found, changes that came from the origin instead of the feed.
type Stats struct{ Dropped, Gaps, CaughtUp uint64 }

// Stats may be called at any time.
func (f *Follower) Stats() Stats {
	return Stats{Dropped: f.dropped.Load(), Gaps: f.gaps.Load(), CaughtUp: f.caughtUp.Load()}
}

// Run follows until ctx ends and returns when everything it started has ended.
// NATS being away is not an error: probes and fetches go on.
func (f *Follower) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer f.work.Wait()
	defer cancel()
	if f.cfg.NATS != nil {
		sub, err := f.cfg.NATS.Subscribe(feed.SubjectAll(f.cfg.Prefix), f.receive)
		if err != nil {
			return err
		}
		defer sub.Unsubscribe() //nolint:errcheck // the connection ends right after
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	f.probe(ctx)
	last := time.Now()
	next := last.Add(probeEvery)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.early:
			f.wanted = true
		case c := <-f.messages:
			f.take(c, time.Now())
		case p := <-f.heads:
			f.learn(ctx, p)
		case got := <-f.fetched:
			f.catchUp(ctx, got)
		case got := <-f.configs:
			f.configure(got)
		case now := <-ticker.C:
			if !now.Before(next) || f.wanted && now.Sub(last) >= probeApart {
				f.probe(ctx)
				f.wanted, last, next = false, now, now.Add(probeEvery)
			}
			f.repair(ctx, now)
		}
	}
}

// receive runs on the subscription's goroutine, which keeps the order.
func (f *Follower) receive(m *nats.Msg) {
	c, err := feed.ParseChange(m.Data)
	if err != nil {
		f.cfg.Fault(err)
		return
	}
	select {
	case f.messages <- c:
	default:
		f.dropped.Add(1)
	}
}
