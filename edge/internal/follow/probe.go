package follow

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"waypost/shared/feed"
)

const (
	probeEvery   = 200 * time.Millisecond
	probeTimeout = time.Second
	probeSpacing = 20 * time.Millisecond // between probes asked for out of turn
	maxProbes    = 4                     // in flight
	outage       = time.Second           // without an answer: many edges will come back at once
	maxJitter    = time.Second           // by which they then spread their fetches
)

// probing is the loop's own account of its probes.
type probing struct {
	flying   int
	next     time.Time // when one is due
	last     time.Time // when one was sent
	wanted   bool      // one was asked for out of turn
	answered time.Time // when one last was; zero: never
	failed   bool      // one has failed since
	older    bool      // the last answer was of an epoch that has passed
}

// probed is a probe's outcome.
type probed struct {
	heads          *feed.Heads
	sent, received feed.Instant
	life           uint64 // the suspends before it was sent
	err            error
}

// Probe asks for a probe at once, as when a newer epoch was seen. It does not
// block and is safe for concurrent use.
func (f *Follower) Probe() {
	select {
	case f.early <- struct{}{}:
	default:
	}
}

// hurry probes out of turn, but not in a row: what asks for it may come with
// every message while the origin does not answer.
func (f *Follower) hurry(ctx context.Context) {
	if time.Since(f.probing.last) < probeSpacing || f.probing.flying == maxProbes {
		f.probing.wanted = true
		return
	}
	f.probe(ctx)
}

func (f *Follower) probeIfDue(ctx context.Context, now time.Time) {
	if !now.Before(f.probing.next) {
		f.probe(ctx)
	} else if f.probing.wanted {
		f.hurry(ctx)
	}
}

// probe asks for the heads. Probes may overlap: a slow one does not keep the
// next from being sent.
func (f *Follower) probe(ctx context.Context) {
	p := &f.probing
	if p.flying == maxProbes || f.leaving.done != nil {
		return
	}
	now := time.Now()
	p.flying++
	p.wanted, p.last, p.next = false, now, now.Add(probeEvery)
	probe, life := f.standing(), f.suspends.count.Load()
	f.work.Go(func() {
		// The lease runs from here: whatever the origin reads, it reads later.
		got := probed{life: life, sent: f.Instant()}
		got.heads, got.err = f.asker.ask(ctx, probe)
		got.received = f.Instant()
		select {
		case f.heads <- got:
		case <-ctx.Done():
		}
	})
}

// standing is where this edge is: of the newest epoch that it is in, what it
// has applied. A shard that is not there yet has applied nothing.
func (f *Follower) standing() *feed.Probe {
	probe := &feed.Probe{Member: f.member}
	for shard := range f.shard {
		epoch, applied, ok := f.cfg.Table.Position(shard)
		if !ok || epoch < probe.Epoch {
			continue
		}
		if epoch > probe.Epoch {
			probe.Epoch, probe.Applied = epoch, [feed.AllShards]uint64{}
		}
		probe.Applied[shard] = applied
	}
	return probe
}

// learn takes a probe's outcome. Whether the machine was suspended since it was
// sent must be known first: then its lease would look younger than it is.
func (f *Follower) learn(ctx context.Context, p probed) {
	f.wake(ctx)
	life := f.suspends.count.Load()
	if p.life == life {
		f.probing.flying--
	}
	if f.cfg.Probed != nil {
		f.cfg.Probed(p.err)
	}
	if p.err == nil && f.cfg.Heads != nil {
		f.cfg.Heads(p.received, p.heads)
	}
	now := time.Now()
	switch {
	case p.err != nil:
		f.probing.failed = true
	case p.life == life:
		f.endOutage(now)
		f.accept(ctx, p, now)
	}
	f.departIfDue(ctx, now)
}

// accept takes an answer: a newer epoch resets every shard to the answered
// heads, a head beyond what is applied shows a gap, and the lease runs as soon
// as the head is applied.
func (f *Follower) accept(ctx context.Context, p probed, now time.Time) {
	known := f.epoch()
	if p.heads.Epoch < known {
		f.outdated(ctx, p.heads.Epoch, known)
		return
	}
	if p.heads.Epoch > known {
		f.clock.skip(0) // it may be another machine's from here on
	}
	f.probing.older = false
	f.observe(ctx, p)
	f.clock.observe(p.heads.Now, p.sent, p.received)
	for shard, head := range p.heads.Seq {
		epoch, applied, ok := f.cfg.Table.Position(shard)
		switch {
		case !ok || p.heads.Epoch > epoch:
			f.reset(ctx, shard, p.heads.Epoch, head)
		case head > applied:
			f.gap(shard, head, now)
		}
		// The config's rows are stored before its position is applied, so its
		// lease vouches for them as well.
		f.cfg.Table.Answer(shard, p.heads.Epoch, p.sent, head)
	}
	f.adopted.Store(settled)
}

// endOutage notes an answer after none came for a while. Every edge that was cut off sees its end at the same
// moment: what they missed they fetch spread over some time.
func (f *Follower) endOutage(now time.Time) {
	p := &f.probing
	if away := now.Sub(p.answered); p.failed && !p.answered.IsZero() && away > outage {
		f.calm = now.Add(rand.N(min(away/4, maxJitter))) //nolint:gosec // jitter
	}
	p.answered, p.failed = now, false
}

// outdated drops an answer of an epoch that has passed. Where that is not just
// an answer that was overtaken the origins have to find a new epoch; until
// then nothing is fresh here.
func (f *Follower) outdated(ctx context.Context, answered, known uint64) {
	if !f.probing.older {
		f.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "an origin answered for an epoch that has passed",
			slog.Uint64("epoch", answered), slog.Uint64("known", known))
	}
	f.probing.older = true
}

// epoch is the newest that a shard is in; 0 for none.
func (f *Follower) epoch() (newest uint64) {
	for shard := range f.shard {
		epoch, _, _ := f.cfg.Table.Position(shard)
		newest = max(newest, epoch)
	}
	return newest
}
