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

// Answer is an entry that may be served, and how it was found.
type Answer struct {
	Entry   *feed.Entry
	Tier    Tier
	Refused bool // an entry was held nearer by, but was known to be changed
}

// ErrUnready means that no position is known yet: nothing can be judged.
var ErrUnready = errors.New("redirect: no positions yet")

// second is the region's tier. It gives what it has for a key, found either as
// a value or as a filter's negative answer; both nil when it has neither or
// cannot be asked.
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
	limit time.Duration
	newer func() // tells the follower that a newer epoch was seen
}

// Config is what a Resolver is made of.
type Config struct {
	Table *feed.Table
	L1    *l1.Cache
	L2    second
	// Load reads an entry from the origin with a position of at least minSeq if
	// the origin is in this epoch. Its error is link.ErrUnavailable or wraps it.
	Load func(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error)
	// Timeout bounds everything beyond L1 for one request.
	Timeout time.Duration
	// MaxFills bounds the fills in flight; further ones wait for a place until
	// their deadline.
	MaxFills int
	// NewerEpoch is called when an entry of an epoch beyond the table's is met.
	// It must not block.
	NewerEpoch func()
}

// New makes a Resolver; Wait ends its life.
func New(cfg Config) *Resolver {
	return &Resolver{
		table: cfg.Table,
		l1:    cfg.L1,
		l2:    cfg.L2,
		fills: newFlights(cfg.Load, cfg.MaxFills),
		limit: cfg.Timeout,
		newer: cfg.NewerEpoch,
	}
}

// Wait returns when no fill is in flight any more. Nothing may be resolved
// after it was called.
func (r *Resolver) Wait() { r.fills.wait() }

// Resolve finds the entry to serve for a domain and code whose key has this
// hash. An L1 hit neither allocates nor touches the network. code is not kept.
// Errors: ErrUnready; link.ErrUnavailable when the origin had to be asked and
// did not answer in time.
func (r *Resolver) Resolve(ctx context.Context, domain string, code []byte, hash uint64) (Answer, error) {
	view, ok := r.table.View(hash)
	if !ok {
		return Answer{}, ErrUnready
	}
	held := r.l1.Entry(hash)
	if held != nil && held.Key.Domain == domain && held.Key.Code == string(code) {
		if view.Fresh(held) {
			return Answer{Entry: held, Tier: L1}, nil
		}
	} else {
		held = nil
	}
	return r.beyond(ctx, link.Key{Domain: domain, Code: string(code)}, hash, view, held != nil)
}

// beyond asks L2, then the origin. What is accepted there has raised the key's
// floor (view.Accept) before it is stored and served, so this edge never goes
// back in time.
func (r *Resolver) beyond(ctx context.Context, key link.Key, hash uint64, view feed.View, refused bool) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	value, absent := r.l2.Lookup(ctx, key, hash)
	if value != nil {
		if view.Accept(value) {
			r.l1.Store(hash, value)
			return Answer{Entry: value, Tier: L2, Refused: refused}, nil
		}
		refused = true
		r.seen(&view, value)
	}
	if absent != nil && view.Accept(absent) {
		r.l1.Store(hash, absent)
		return Answer{Entry: absent, Tier: Filter, Refused: refused}, nil
	}
	return r.fill(ctx, key, hash, view, refused)
}

// fill asks the origin, and once more with a view loaded anew if the answer was
// refused: the link, or the epoch, changed on the way.
func (r *Resolver) fill(ctx context.Context, key link.Key, hash uint64, view feed.View, refused bool) (Answer, error) {
	for range 2 {
		e, err := r.fills.load(ctx, key, view.Epoch, view.MinSeq())
		if err != nil {
			return Answer{}, err
		}
		if view.Accept(e) {
			r.keep(hash, e)
			return Answer{Entry: e, Tier: Origin, Refused: refused}, nil
		}
		refused = true
		r.seen(&view, e)
		var ok bool
		if view, ok = r.table.View(hash); !ok {
			return Answer{}, ErrUnready
		}
	}
	return Answer{}, link.ErrUnavailable
}

// keep stores a fill in both tiers only if it passes the rule now: the request
// that sent it may serve it by the floors it loaded before, others may not.
func (r *Resolver) keep(hash uint64, e *feed.Entry) {
	if now, ok := r.table.View(hash); ok && now.Fresh(e) {
		r.l1.Store(hash, e)
		r.l2.Store(e)
	}
}

func (r *Resolver) seen(view *feed.View, e *feed.Entry) {
	if e.Epoch > view.Epoch {
		r.newer()
	}
}

// Applied takes an entry that a change brought, after the table has applied
// it: it replaces an older one held in L1 and answers fills waiting for it.
func (r *Resolver) Applied(e *feed.Entry) {
	r.l1.Replace(e.Key.Hash(), e)
	r.fills.pushed(e)
}
