package redirect

import (
	"context"
	"errors"
	"time"

	"waypost/edge/internal/l1"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// Tier says where an answer came from.
type Tier uint8

// The tiers, in the order they are asked.
const (
	L1 Tier = iota
	L2
	Filter // the Bloom filter's "no"
	Origin
)

// Answer is an entry that is not known to be changed, and how it was found.
// Whether it may go out as up to date is decided last, by Mark.
type Answer struct {
	Entry   *feed.Entry
	Tier    Tier
	Refused bool         // an entry was held nearer by, but was known to be changed
	Lease   feed.Instant // that it was judged by; 0: none
	Stale   bool         // whatever the lease, it can only go out marked
}

// degradedLimit bounds what lies beyond L1 for an edge without a lease: the
// origin is probably away, and a visitor should hear so soon.
const degradedLimit = time.Second

// ErrUnready means that no position is known yet: nothing can be judged.
var ErrUnready = errors.New("redirect: no positions yet")

// second is the region's tier. It gives what it has for a key, found either as
// a value or as a filter's negative answer; both nil when it has neither or
// cannot be asked. It bounds the time that it takes itself.
type second interface {
	Lookup(ctx context.Context, key link.Key, hash uint64) (value, absent *feed.Entry)
	Store(e *feed.Entry)
}

// Resolver answers keys. It is safe for concurrent use.
type Resolver struct {
	table *feed.Table
	l1    *l1.Cache
	l2    second
	fills *flights
	use   func(ctx context.Context, key link.Key) (*feed.Use, error)
	uses  chan struct{} // holds a token for each use in flight
	limit time.Duration
	clock func() feed.Instant
	bound func() time.Duration
	cap   time.Duration
	since func() feed.Instant
	newer func()
	adopt func(ctx context.Context, epoch uint64)
}

// Config is what a Resolver is made of. Its functions are called from many
// goroutines at once.
type Config struct {
	Table *feed.Table
	L1    *l1.Cache
	L2    second
	// Load reads an entry from the origin with a position of at least minSeq if
	// the origin is in this epoch. Its error is link.ErrUnavailable or wraps it.
	Load func(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error)
	// Use asks an origin for one use of a limited link, at most once. Its error is
	// link.ErrUnavailable or wraps it.
	Use func(ctx context.Context, key link.Key) (*feed.Use, error)
	// Timeout bounds everything beyond L1 for one request.
	Timeout time.Duration
	// MaxFills bounds the fills and uses in flight, half of it the uses; further ones
	// wait for a place until their deadline.
	MaxFills int
	// Clock is the monotonic clock that leases are measured by.
	Clock func() feed.Instant
	// Bound is B, for how long a lease lasts; 0 while it is not known.
	Bound func() time.Duration
	// Cap is for how long an answer may go out marked as stale.
	Cap time.Duration
	// Since is the instant that an answer without a lease counts from.
	Since func() feed.Instant
	// NewerEpoch is called when an entry of an epoch beyond the table's is met. It
	// must not block.
	NewerEpoch func()
	// Adopt is called when one is met in L2, too, for a table that has no positions
	// yet: it may take up that epoch before it returns.
	Adopt func(ctx context.Context, epoch uint64)
}

// New makes a Resolver; Wait ends its life.
func New(cfg Config) *Resolver {
	return &Resolver{
		table: cfg.Table,
		l1:    cfg.L1,
		l2:    cfg.L2,
		fills: newFlights(cfg.Load, cfg.MaxFills),
		use:   cfg.Use,
		uses:  make(chan struct{}, max(cfg.MaxFills/2, 1)),
		limit: cfg.Timeout,
		clock: cfg.Clock,
		bound: cfg.Bound,
		cap:   cfg.Cap,
		since: cfg.Since,
		newer: cfg.NewerEpoch,
		adopt: cfg.Adopt,
	}
}

// Wait returns when no fill is in flight any more. Nothing may be resolved
// after it was called.
func (r *Resolver) Wait() { r.fills.wait() }

// Held is the entry in L1 for a domain and code whose key has this hash, if it may
// be served. It neither allocates nor touches the network; code is not kept.
func (r *Resolver) Held(domain string, code []byte, hash uint64) (Answer, bool) {
	view, ok := r.table.View(hash)
	if !ok {
		return Answer{}, false
	}
	held := r.l1.Entry(domain, code, hash)
	if held == nil || !view.Fresh(held) {
		return Answer{}, false
	}
	return Answer{Entry: held, Tier: L1, Lease: view.Lease}, true
}

// Resolve finds the entry to serve for a domain and code whose key has this
// hash. An L1 hit neither allocates nor touches the network. code is not kept.
// Errors: ErrUnready; link.ErrUnavailable when nothing that may be served is
// held and the origin did not answer in time.
func (r *Resolver) Resolve(ctx context.Context, domain string, code []byte, hash uint64) (Answer, error) {
	view, ok := r.table.View(hash)
	if !ok {
		return r.unready(ctx, link.Key{Domain: domain, Code: string(code)}, hash)
	}
	held := r.l1.Entry(domain, code, hash)
	if held != nil && view.Fresh(held) {
		return Answer{Entry: held, Tier: L1, Lease: view.Lease}, nil
	}
	look := lookup{r: r, key: link.Key{Domain: domain, Code: string(code)}, hash: hash, view: view}
	return look.beyond(ctx, held)
}

// leased reports whether a lease still lasts.
func (r *Resolver) leased(lease feed.Instant) bool {
	return lease != 0 && time.Duration(r.clock()-lease) <= r.bound()
}

// lookup is one request on its way beyond L1.
type lookup struct {
	r       *Resolver
	key     link.Key
	hash    uint64
	view    feed.View
	until   time.Time // the end of the time for what lies beyond L1
	refused bool      // an entry was known to be changed
	last    Answer    // the nearest entry that is not known to be changed, for when nothing fresh can be had
}

// beyond asks L2, then the origin. Without a lease it takes the nearest entry
// that is not known to be changed: the origin is probably away, and a fill
// could not be called up to date either.
func (l *lookup) beyond(ctx context.Context, held *feed.Entry) (Answer, error) {
	degraded := !l.r.leased(l.view.Lease)
	if held != nil {
		l.refused = true
		if l.known(held, L1) && degraded {
			return l.fallBack(link.ErrUnavailable)
		}
	}
	limit := l.r.limit
	if degraded {
		limit = min(limit, degradedLimit)
	}
	l.until = time.Now().Add(limit)
	value, absent := l.r.l2.Lookup(ctx, l.key, l.hash)
	if value != nil {
		if value.Epoch > l.view.Epoch {
			l.seen(value)
			l.adopt(ctx, value.Epoch)
		}
		if l.view.Accept(value) {
			return l.take(value, L2), nil
		}
		l.refused = true
		if l.known(value, L2) && degraded {
			return l.fallBack(link.ErrUnavailable)
		}
	}
	if absent != nil {
		l.seen(absent)
		if !degraded && l.view.Accept(absent) {
			return l.take(absent, Filter), nil
		}
	}
	return l.fill(ctx)
}

// take is for an accepted entry from beyond L1: its version has raised the
// key's floor (view.Accept) before it is stored and served, so that this edge
// never goes back in time.
func (l *lookup) take(e *feed.Entry, tier Tier) Answer {
	l.r.l1.Store(l.hash, e)
	return Answer{Entry: e, Tier: tier, Refused: l.refused, Lease: l.view.Lease}
}

// known keeps an entry to fall back on if it is not known to be changed. An
// absent one is none: without knowing, a 404 is never invented.
func (l *lookup) known(e *feed.Entry, tier Tier) bool {
	if e.State == feed.Absent || !l.view.Known(e) {
		return false
	}
	if l.last.Entry == nil || e.AsOf > l.last.Entry.AsOf {
		l.last = Answer{Entry: e, Tier: tier, Refused: l.refused, Stale: true}
	}
	return true
}

// fill asks the origin, and once more with a view loaded anew if the answer was
// refused: the link, or the epoch, changed on the way.
func (l *lookup) fill(ctx context.Context) (Answer, error) {
	ctx, cancel := context.WithDeadline(ctx, l.until)
	defer cancel()
	for range 2 {
		e, err := l.r.fills.load(ctx, l.key, l.view.Fill())
		if err != nil {
			return l.fallBack(err)
		}
		if l.view.Accept(e) {
			l.r.keep(l.hash, e)
			return Answer{Entry: e, Tier: Origin, Refused: l.refused, Lease: l.view.Lease}, nil
		}
		l.seen(e)
		l.refused = true
		var ok bool
		if l.view, ok = l.r.table.View(l.hash); !ok {
			return Answer{}, ErrUnready
		}
		l.known(e, Origin)
	}
	return l.fallBack(link.ErrUnavailable)
}

// fallBack serves the last known entry, marked, if the newest floors do not
// refute it; it raises the floor like anything that is served.
func (l *lookup) fallBack(err error) (Answer, error) {
	now, ok := l.r.table.View(l.hash)
	if l.last.Entry == nil || !ok || !now.AcceptKnown(l.last.Entry) {
		return Answer{}, err
	}
	if l.last.Tier != L1 {
		l.r.l1.Store(l.hash, l.last.Entry)
	}
	l.last.Lease = now.Lease
	return l.last, nil
}

func (l *lookup) seen(e *feed.Entry) {
	if e.Epoch > l.view.Epoch {
		l.r.newer()
	}
}

// adopt offers an epoch that L2 showed to a table without positions, which the
// lookup then goes by.
func (l *lookup) adopt(ctx context.Context, epoch uint64) {
	ctx, cancel := context.WithDeadline(ctx, l.until)
	defer cancel()
	l.r.adopt(ctx, epoch)
	if view, ok := l.r.table.View(l.hash); ok {
		l.view = view
	}
}

// unready is for an edge that was started while no origin answers: the epoch of
// what L2 holds is taken for the current one, so that it can be answered with,
// marked.
func (r *Resolver) unready(ctx context.Context, key link.Key, hash uint64) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, degradedLimit)
	defer cancel()
	look := lookup{r: r, key: key, hash: hash, until: time.Now().Add(degradedLimit)}
	value, _ := r.l2.Lookup(ctx, key, hash)
	if value == nil {
		return Answer{}, ErrUnready
	}
	look.adopt(ctx, value.Epoch)
	if look.view.Epoch == 0 {
		return Answer{}, ErrUnready
	}
	return look.beyond(ctx, nil)
}

// keep stores a fill in both tiers only if it passes the rule now: the request
// that sent it may serve it by the floors it loaded before, others may not.
func (r *Resolver) keep(hash uint64, e *feed.Entry) {
	if now, ok := r.table.View(hash); ok && now.Fresh(e) {
		r.l1.Store(hash, e)
		r.l2.Store(e)
	}
}

// Applied takes an entry that a change brought, after the table has applied
// it: it replaces an older one held in L1 and answers fills waiting for it.
func (r *Resolver) Applied(e *feed.Entry) {
	r.l1.Replace(e.Key.Hash(), e)
	r.fills.pushed(e)
}
