// Package audit checks a sample of what this edge served against the origin's
// outbox, after the fact: the bound is measured where it matters.
package audit

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

const (
	maxSamples = 256  // waiting to be checked; further ones are not taken
	maxProbes  = 1024 // kept: 2 B of them, whatever B is
	maxRows    = 2048 // positions looked through for a sample, the latest: an entry may be as old as the link
	timeout    = 5 * time.Second
)

// outbox is the origin's history of a shard.
type outbox interface {
	Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error)
}

// Config is what an Auditor is made of.
type Config struct {
	Every  int // one in so many unmarked answers is checked; 0: none
	Outbox outbox
	Bound  func() time.Duration // B; 0 while it is not known
	Logger *slog.Logger
}

// Auditor takes samples and checks them. It is safe for concurrent use.
type Auditor struct {
	cfg     Config
	samples chan sample

	mu     sync.Mutex
	probes []probe // oldest first

	checked, stale atomic.Uint64
}

// sample is one answer that went out unmarked.
type sample struct {
	key   link.Key
	epoch uint64
	asof  uint64
	at    feed.Instant
}

// probe is one answer of the origins: what existed when it was received.
type probe struct {
	received feed.Instant
	epoch    uint64
	heads    [feed.AllShards]uint64
}

// New makes an Auditor; Run makes it check.
func New(cfg Config) *Auditor {
	return &Auditor{cfg: cfg, samples: make(chan sample, maxSamples)}
}

// Stats counts since the start.
type Stats struct {
	Checked uint64 // samples compared with the outbox
	Stale   uint64 // of them, answers that were older than B; must stay 0
}

// Stats may be called at any time.
func (a *Auditor) Stats() Stats { return Stats{Checked: a.checked.Load(), Stale: a.stale.Load()} }

// Served may take an unmarked answer as a sample. It neither waits nor, for
// most answers, does anything.
func (a *Auditor) Served(e *feed.Entry, at feed.Instant) {
	if a.cfg.Every == 0 || rand.IntN(a.cfg.Every) != 0 { //nolint:gosec // a sample
		return
	}
	select {
	case a.samples <- sample{key: e.Key, epoch: e.Epoch, asof: e.AsOf, at: at}:
	default:
	}
}

// Probed notes what a probe showed.
func (a *Auditor) Probed(received feed.Instant, h *feed.Heads) {
	if a.cfg.Every == 0 {
		return
	}
	keep := 2 * a.cfg.Bound()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.probes = append(a.probes, probe{received: received, epoch: h.Epoch, heads: h.Seq})
	drop := max(0, len(a.probes)-maxProbes)
	// The newest one beyond 2 B stays: it is the last word for the oldest sample.
	for drop+1 < len(a.probes) && time.Duration(received-a.probes[drop+1].received) > keep {
		drop++
	}
	a.probes = append(a.probes[:0], a.probes[drop:]...)
}

// head is the position of a shard that was known to exist at the instant; 0 if
// no probe of this epoch was received by then.
func (a *Auditor) head(epoch uint64, shard int, at feed.Instant) (head uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.probes {
		if p.epoch == epoch && p.received < at {
			head = max(head, p.heads[shard])
		}
	}
	return head
}

// Run checks samples until ctx ends.
func (a *Auditor) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-a.samples:
			a.check(ctx, s)
		}
	}
}

// check looks for a change of the sample's key that existed more than B before
// the answer went out and that the answer did not know of. Where the outbox
// cannot tell (the origin is away, the history is gone, the epoch has changed),
// the sample is dropped uncounted.
func (a *Auditor) check(ctx context.Context, s sample) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	shard := feed.Shard(s.key.Hash())
	head := a.head(s.epoch, shard, s.at-feed.Instant(a.cfg.Bound()))
	for from := max(s.asof, head-min(head, maxRows)); from < head; {
		page, err := a.cfg.Outbox.Changes(ctx, shard, s.epoch, from)
		if err != nil || page.Reset || page.Epoch != s.epoch || len(page.Rows) == 0 {
			return
		}
		for _, c := range page.Rows {
			if c.Seq <= head && (c.Key == s.key || c.Kind == feed.PurgeAll) {
				a.checked.Add(1)
				a.stale.Add(1)
				a.cfg.Logger.Error("an answer older than the bound was served unmarked",
					slog.String("link", s.key.String()), slog.Uint64("as_of", s.asof), slog.Uint64("changed_at", c.Seq))
				return
			}
			from = c.Seq
		}
	}
	a.checked.Add(1)
}
