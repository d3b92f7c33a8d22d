package edges

import (
	"context"
	"sync/atomic"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

const (
	retryPause = 100 * time.Millisecond // between reads of the roster that fail
	leaveLimit = time.Second            // of taking silent edges off
)

// leaver takes edges off the list of members.
type leaver interface {
	Leave(ctx context.Context, ms []feed.Member) error
}

// Barrier is what a write waits at after its commit: until every edge has
// acknowledged it or can no longer answer, unmarked, with what was before it. It
// is safe for concurrent use.
type Barrier struct {
	members leaver
	rosters *Rosters
	tracker *Tracker
	bound   time.Duration // until PostgreSQL has told its own

	silent atomic.Uint64
}

// NewBarrier returns a Barrier. bound is how long to wait for edges, at the
// most, where PostgreSQL could not be asked yet.
func NewBarrier(members leaver, rosters *Rosters, tracker *Tracker, bound time.Duration) *Barrier {
	return &Barrier{members: members, rosters: rosters, tracker: tracker, bound: bound}
}

// Silent counts the edges that were waited for in vain, once for each wait.
func (b *Barrier) Silent() uint64 { return b.silent.Load() }

// Wait waits for the edges on the roster as it is read now, after the commit.
//
// An edge that joins later is not waited for and need not be. Its join is
// committed after the roster was read, and the heads it gets are read after its
// join: the write is among them, so it has no lease before it has applied the
// write. The same holds for an edge that left so long ago that the roster does
// not list it any more: it joins anew before it gets heads.
//
// The wait for an edge ends one bound after the commit: a lease that is still
// valid then was asked for after the commit, so its heads have the write. For an
// edge that had left it ends one bound after that, since it was given no heads
// since. The silent ones are taken off the list, so that they slow writes for
// one bound more and not for ever.
//
// Without PostgreSQL the whole bound is waited, because nobody knows who else has
// joined; the edges of the last roster are counted, and where there was none
// nothing is claimed. The caller's ctx does not cut the wait short: a client that
// goes away would leave a silent edge on the list.
func (b *Barrier) Wait(ctx context.Context, committed time.Time, positions []links.Position) links.Receipt {
	ctx = context.WithoutCancel(ctx)
	r, at := b.roster(ctx, committed)
	if r == nil {
		last := b.rosters.last.Load()
		if last == nil {
			return links.Receipt{Ack: links.AckCommit}
		}
		return links.Receipt{Ack: links.AckEdges, Edges: len(last.Edges), Acked: b.heard(last, positions)}
	}
	bound := feed.Outlast(r.BarrierBound)
	for _, e := range r.Edges {
		b.await(e, positions, limit(e, &r.Heads, committed, at, bound))
	}
	c := b.count(ctx, r, positions)
	b.takeOff(ctx, c.silent)
	return links.Receipt{Ack: links.AckEdges, Edges: len(r.Edges), Acked: c.acked}
}

// limit is until when to wait for an edge, by the clock of this process. The
// roster came at at, and was read before.
func limit(e links.Edge, h *feed.Heads, committed, at time.Time, bound time.Duration) time.Time {
	end := committed.Add(bound)
	if e.LeftAt.IsZero() {
		return end
	}
	left := e.LeftAt.Add(bound).Sub(time.UnixMicro(h.Now))
	if gone := at.Add(left); gone.Before(end) {
		return gone
	}
	return end
}

// await waits for one edge. Edges are waited for one after the other, which takes
// as long as the slowest: what the others say meanwhile is kept.
func (b *Barrier) await(e links.Edge, positions []links.Position, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	b.tracker.wait(e.Member, positions, timer.C)
}

// takeOff marks silent edges as left. If that fails they stay members, and the
// next barrier finds them silent again.
func (b *Barrier) takeOff(ctx context.Context, silent []feed.Member) {
	b.silent.Add(uint64(len(silent)))
	if len(silent) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	_ = b.members.Leave(ctx, silent)
}

// roster reads the roster, again and again if need be, until the bound has
// passed; then it is nil. at is when it came.
func (b *Barrier) roster(ctx context.Context, committed time.Time) (r *roster, at time.Time) {
	bound := b.bound
	if last := b.rosters.last.Load(); last != nil {
		bound = max(bound, last.BarrierBound)
	}
	ctx, cancel := context.WithDeadline(ctx, committed.Add(feed.Outlast(bound)))
	defer cancel()
	for {
		r, err := b.rosters.read(ctx)
		if err == nil {
			return r, time.Now()
		}
		pause := time.NewTimer(retryPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, time.Time{}
		}
	}
}
