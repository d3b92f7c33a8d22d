package follow

import (
	"context"
	"math/rand/v2"
	"time"

	"waypost/shared/feed"
)

// take applies a change if it is the next of its shard, and keeps it if it is a
// later one.
func (f *Follower) take(c *feed.Change, now time.Time) {
	p := &f.shard[c.Shard]
	switch f.apply(c) {
	case feed.Applied:
		f.drain(c.Shard)
	case feed.Gap:
		if len(p.pending) < maxPending {
			if p.pending == nil {
				p.pending = make(map[uint64]*feed.Change)
			}
			p.pending[c.Seq] = c
		}
		f.gap(c.Shard, c.Seq, now)
	case feed.OtherEpoch:
		if epoch, _, ok := f.cfg.Table.Position(c.Shard); ok && c.Epoch > epoch {
			f.Probe()
		}
	case feed.Repeated:
	}
}

// apply hands a change to the table. The config is replaced before its position
// is stored, so that whoever sees the position sees the config.
func (f *Follower) apply(c *feed.Change) feed.Outcome {
	if c.Shard == feed.ConfigShard {
		cfg := f.config.Load()
		if cfg != nil && cfg.Epoch == c.Epoch && cfg.Seq+1 == c.Seq {
			f.config.Store(cfg.With(c))
		}
	}
	outcome := f.cfg.Table.Apply(c)
	if outcome == feed.Applied {
		f.cfg.Applied(c)
	}
	return outcome
}

// drain applies the kept changes that have become the next ones, forgets those
// that were overtaken, and ends the gap once everything known of is applied.
func (f *Follower) drain(shard int) {
	p := &f.shard[shard]
	_, applied, _ := f.cfg.Table.Position(shard)
	for len(p.pending) > 0 {
		c, ok := p.pending[applied+1]
		if !ok {
			break
		}
		delete(p.pending, c.Seq)
		if f.apply(c) != feed.Applied {
			break
		}
		applied++
	}
	for seq := range p.pending {
		if seq <= applied {
			delete(p.pending, seq)
		}
	}
	if applied >= p.head && len(p.pending) == 0 {
		p.gapAt = time.Time{}
	}
}

// gap notes that the shard has at least one change up to head that is missing
// here.
func (f *Follower) gap(shard int, head uint64, now time.Time) {
	p := &f.shard[shard]
	p.head = max(p.head, head)
	if p.gapAt.IsZero() {
		p.gapAt = now
		f.gaps.Add(1)
	}
}

// repair fetches what has been missing for longer than a change on its way
// needs.
func (f *Follower) repair(ctx context.Context, now time.Time) {
	for shard := range f.shard {
		p := &f.shard[shard]
		if p.gapAt.IsZero() || p.fetch || now.Sub(p.gapAt) < gapPatience || now.Before(p.retryAt) {
			continue
		}
		if f.fetches == maxFetches {
			return
		}
		f.fetch(ctx, shard)
	}
}

func (f *Follower) fetch(ctx context.Context, shard int) {
	epoch, applied, ok := f.cfg.Table.Position(shard)
	if !ok {
		return
	}
	f.shard[shard].fetch = true
	f.fetches++
	f.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		changes, err := f.cfg.Origin.Changes(ctx, shard, epoch, applied)
		f.fetched <- fetched{shard: shard, epoch: epoch, changes: changes, err: err}
	})
}

// catchUp applies what a fetch brought. The next page is asked for at once; a
// failure waits, longer each time, up to a second.
func (f *Follower) catchUp(ctx context.Context, got fetched) {
	p := &f.shard[got.shard]
	p.fetch = false
	f.fetches--
	epoch, applied, _ := f.cfg.Table.Position(got.shard)
	if epoch != got.epoch {
		return // the answer is about an epoch that is over here
	}
	changes := got.changes
	progress := got.err == nil && changes.Epoch == epoch && (len(changes.Rows) > 0 || changes.Reset && changes.Head > applied)
	if !progress {
		p.fails = min(p.fails+1, 6)
		backoff := 20 * time.Millisecond << p.fails
		p.retryAt = time.Now().Add(backoff/2 + rand.N(backoff/2)) //nolint:gosec // jitter
		if got.err == nil && changes.Epoch > epoch {
			f.Probe()
		}
		return
	}
	p.fails = 0
	if changes.Reset {
		f.reset(ctx, got.shard, changes.Epoch, changes.Head)
		return
	}
	for _, c := range changes.Rows {
		if f.apply(c) == feed.Applied {
			f.caughtUp.Add(1)
		}
	}
	p.head = max(p.head, changes.Head)
	f.drain(got.shard)
	if !p.gapAt.IsZero() {
		f.fetch(ctx, got.shard)
	}
}

// reset takes a shard to head without the changes in between. The config
// shard's rows are fetched whole instead.
func (f *Follower) reset(ctx context.Context, shard int, epoch, head uint64) {
	if shard == feed.ConfigShard {
		f.fetchConfig(ctx)
		return
	}
	f.resetTo(shard, epoch, head)
}

// resetTo forgets what was known of a shard's head and later changes if the
// epoch is another: positions of different epochs do not compare.
func (f *Follower) resetTo(shard int, epoch, head uint64) {
	p := &f.shard[shard]
	if old, _, ok := f.cfg.Table.Position(shard); !ok || old != epoch {
		p.head = 0
		clear(p.pending)
	}
	f.cfg.Table.Reset(shard, epoch, head)
	f.drain(shard)
}
