package follow

import (
	"context"
	"math/rand/v2"
	"time"

	"waypost/shared/feed"
)

const (
	gapPatience  = 20 * time.Millisecond // a change on its way may still fill the gap
	fetchTimeout = 5 * time.Second
	maxFetches   = 8 // shards caught up at once
)

type fetched struct {
	shard   int
	epoch   uint64
	changes *feed.Changes
	err     error
}

// gap notes that the shard has at least one change up to head that is missing
// here.
func (f *Follower) gap(shard int, head uint64, now time.Time) {
	p := &f.shard[shard]
	p.head = max(p.head, head)
	if p.gapAt.IsZero() {
		p.gapAt = now
	}
}

// repair fetches what has been missing for longer than a change on its way
// needs, a bounded number of shards at a time.
func (f *Follower) repair(ctx context.Context, now time.Time) {
	if now.Before(f.calm) {
		return
	}
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
	p := &f.shard[shard]
	if !p.lost {
		p.lost = true
		f.stats.gaps.Add(1)
	}
	p.fetch = true
	f.fetches++
	f.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		changes, err := f.cfg.History.Changes(ctx, shard, epoch, applied)
		f.fetched <- fetched{shard: shard, epoch: epoch, changes: changes, err: err} // has room for every fetch
	})
}

// catchUp applies what a fetch brought. The next page is asked for at once; a
// failure, or nothing where something is missing, waits, longer each time, up
// to about a second.
func (f *Follower) catchUp(ctx context.Context, got fetched) {
	p := &f.shard[got.shard]
	p.fetch = false
	f.fetches--
	epoch, before, _ := f.cfg.Table.Position(got.shard)
	switch {
	case got.err != nil:
		p.backOff()
		return
	case got.epoch != epoch:
		return // asked for before a reset to a newer epoch
	case got.changes.Epoch != epoch:
		p.backOff()
		f.Probe()
		return
	case got.changes.Reset:
		f.reset(ctx, got.shard, epoch, got.changes.Head)
	default:
		f.applyPage(got.shard, got.changes)
	}
	if _, after, _ := f.cfg.Table.Position(got.shard); after == before {
		p.backOff()
		return
	}
	p.fails = 0
	f.acker.everywhere(got.shard)
	if !p.gapAt.IsZero() {
		f.fetch(ctx, got.shard)
	}
}

func (f *Follower) applyPage(shard int, changes *feed.Changes) {
	for _, c := range changes.Rows {
		if f.apply(message{Change: c}) == feed.Applied {
			f.stats.caughtUp.Add(1)
		}
	}
	f.shard[shard].head = max(f.shard[shard].head, changes.Head)
	f.drain(shard)
}

func (p *progress) backOff() {
	const first, doublings = 20 * time.Millisecond, 6
	p.fails = min(p.fails+1, doublings)
	wait := first << p.fails
	p.retryAt = time.Now().Add(wait/2 + rand.N(wait/2)) //nolint:gosec // jitter
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
