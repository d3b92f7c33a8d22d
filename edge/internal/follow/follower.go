package follow

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
)

const (
	tick        = 10 * time.Millisecond
	maxMessages = 8192                 // feed messages waiting to be applied; beyond, they are dropped and fetched
	maxTurn     = 256                  // feed messages applied before anything else has its turn
	turnTime    = 5 * time.Millisecond // for which they are, at most
	maxID       = 64                   // bytes of a member's id
)

// history is where what the feed did not bring comes from.
type history interface {
	Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error)
	Config(ctx context.Context) (*feed.Config, error)
}

// origin is any one of them for a probe, and each of them for an
// acknowledgement, over HTTP.
type origin interface {
	Probe(ctx context.Context, p *feed.Probe) (*feed.Heads, error)
	Ack(ctx context.Context, a *feed.Ack) error
}

// bus is a NATS connection; its methods may block while a write does.
type bus interface {
	IsConnected() bool
	RequestWithContext(ctx context.Context, subject string, body []byte) (*nats.Msg, error)
	Publish(subject string, body []byte) error
}

// Config is what a Follower is made of. Table, Origin, History, ID and
// Logger are required. The functions may be nil; but for Fault they are called
// from the follower's one goroutine, and none of them may block.
type Config struct {
	Table    *feed.Table
	Settings *feed.Config // the config shard as it was saved with Table; nil: none
	Origin   origin
	History  history
	NATS     *nats.Conn // nil: HTTP alone
	Prefix   string     // of the feed's subjects
	ID       string     // of this edge; its first 64 bytes count
	State    *State     // where the table is saved; nil: nowhere
	Logger   *slog.Logger
	Applied  func(*feed.Change)                         // after the table has applied it
	Lag      func(time.Duration)                        // from a change's write to its application here, by PostgreSQL's clock
	Probed   func(err error)                            // after each probe
	Held     func(held bool)                            // when all leases begin, or cease, to be younger than the bound
	Heads    func(received feed.Instant, h *feed.Heads) // of each that was answered
	Fault    func(err error)                            // a feed message that cannot be read; from another goroutine
}

// Follower is the only writer of its table.
type Follower struct {
	cfg    Config
	member feed.Member
	start  time.Time // Instants count from it
	clock  clock
	bound  bound
	config atomic.Pointer[feed.Config]
	asker  *asker
	acker  *acker

	early    chan struct{} // asks for a probe at once
	adopt    chan adoption // epochs that were found in Redis
	leave    chan chan error
	ended    chan struct{} // closed when Run returns
	messages chan message
	heads    chan probed
	fetched  chan fetched
	configs  chan configured
	work     sync.WaitGroup // the goroutines that ask the origin

	// The loop's alone.
	shard    [feed.AllShards]progress
	probing  probing
	suspends suspends
	holding  holding
	leaving  leaving
	fetches  int
	fetching bool      // the config
	calm     time.Time // nothing is fetched before it

	adopted atomic.Uint64 // the epoch that was adopted, or settled
	since   atomic.Int64  // Instant that what has no lease counts from
	stats   counters
}

// message is a change from the feed and where it is to be acknowledged.
type message struct {
	*feed.Change
	reply string // "": nowhere
}

// New makes a Follower; Run makes it work.
func New(cfg Config) *Follower {
	f := &Follower{
		cfg:      cfg,
		member:   feed.Member{ID: strings.ToValidUTF8(cfg.ID[:min(len(cfg.ID), maxID)], ""), Boot: rand.Text()},
		start:    time.Now(),
		early:    make(chan struct{}, 1),
		adopt:    make(chan adoption),
		leave:    make(chan chan error, 1),
		ended:    make(chan struct{}),
		messages: make(chan message, maxMessages),
		heads:    make(chan probed, maxProbes),
		fetched:  make(chan fetched, maxFetches),
		configs:  make(chan configured, 1),
	}
	f.clock.guess(f.start)
	f.suspends.read = bootLead
	f.config.Store(cfg.Settings)
	var wire bus
	if cfg.NATS != nil {
		wire = cfg.NATS
	}
	f.asker = newAsker(wire, feed.SubjectProbe(cfg.Prefix), cfg.Origin, &f.work)
	f.acker = newAcker(wire, cfg.Prefix, cfg.Origin, f.member, cfg.Table)
	if _, _, ok := cfg.Table.Position(0); ok {
		f.adopted.Store(settled)
	}
	return f
}

// Member is this run of the edge, as the origins know it.
func (f *Follower) Member() feed.Member { return f.member }

// Settings is the config shard as it is held, or nil before it was fetched.
// Safe for concurrent use.
func (f *Follower) Settings() *feed.Config { return f.config.Load() }

// Run follows until ctx ends and returns when everything it started has ended.
// NATS being away is not an error: probes and fetches go on. It is called once.
func (f *Follower) Run(ctx context.Context) error {
	defer close(f.ended)
	keep := newKeeper(f)
	defer keep.save(context.WithoutCancel(ctx)) // when nothing moves any more
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
	f.acker.run(ctx, &f.work)
	f.work.Go(func() { keep.run(ctx) })
	f.loop(ctx)
	return nil
}

func (f *Follower) loop(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	f.probe(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.early:
			f.hurry(ctx)
		case asked := <-f.adopt:
			f.adoptEpoch(asked)
		case done := <-f.leave:
			f.depart(ctx, done)
		case m := <-f.messages:
			f.turn(m)
		case p := <-f.heads:
			f.learn(ctx, p)
		case got := <-f.fetched:
			f.catchUp(ctx, got)
		case got := <-f.configs:
			f.configure(got)
		case now := <-ticker.C:
			f.wake(ctx)
			f.probeIfDue(ctx, now)
			f.departIfDue(ctx, now)
			f.repair(ctx, now)
			f.tellHeld()
		}
		f.acker.flush()
	}
}

// turn applies a feed message and those that wait behind it, so that their
// acknowledgements go out together: up to maxTurn of them, and for turnTime at
// most, since a purge of all raises every floor of a shard, and probes wait.
func (f *Follower) turn(m message) {
	now := time.Now()
	f.take(m, now)
	for range maxTurn {
		if time.Since(now) > turnTime {
			return
		}
		select {
		case m := <-f.messages:
			f.take(m, now)
		default:
			return
		}
	}
}

// receive runs on the subscription's goroutine, which keeps the order.
func (f *Follower) receive(m *nats.Msg) {
	c, err := feed.ParseChange(m.Data)
	if err != nil {
		if f.cfg.Fault != nil {
			f.cfg.Fault(err)
		}
		return
	}
	select {
	case f.messages <- message{Change: c, reply: m.Reply}:
	default:
		f.stats.dropped.Add(1)
	}
}
