package edges

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

const (
	// maxTracked bounds the members that a Tracker remembers, at some 700 bytes
	// each.
	maxTracked = maxMembers
	// idleLimit is after what silence a member is forgotten: it has left, or it
	// tells other origins. That loses nothing, since its next acknowledgement
	// covers all before.
	idleLimit = time.Minute
)

// others are the other origins. An edge's probes go to one origin, and so do all
// that it says by HTTP if it can reach no more than one, while a write may wait
// for it at any.
type others interface {
	// Share passes an acknowledgement on to them. It does not wait.
	Share(a *feed.Ack)
}

// Tracker remembers the highest position of each shard that each edge has
// acknowledged: floor and applied are stored there. What it does not know, as
// after a restart of the origin, the edge's next probe or acknowledgement tells.
// It is safe for concurrent use.
type Tracker struct {
	others others
	taken  [ways]atomic.Uint64

	mu      sync.Mutex
	members map[feed.Member]*progress
	swept   time.Time
}

// progress is how far one member has got, in one epoch.
type progress struct {
	epoch   uint64
	seq     [feed.AllShards]uint64
	touched time.Time
	moved   chan struct{} // closed by what moves it on; nil: nobody waits
}

// NewTracker returns a Tracker that knows of nobody.
func NewTracker(others others) *Tracker {
	return &Tracker{others: others, members: make(map[feed.Member]*progress), swept: time.Now()}
}

// take takes an acknowledgement, and passes on what is new in it, unless it came
// by NATS: then all have heard it, or nobody else waits for it.
func (t *Tracker) take(by Way, m feed.Member, epoch uint64, positions iter.Seq2[int, uint64]) {
	t.taken[by].Add(1)
	if news := t.move(m, epoch, positions); len(news) > 0 && (by == ByHTTP || by == ByProbe) {
		t.others.Share(&feed.Ack{Member: m, Epoch: epoch, Positions: news})
	}
}

// move moves a member on and returns by what. Acknowledgements may come late,
// repeated and out of order; a newer epoch begins anew, an older one is dropped.
func (t *Tracker) move(m feed.Member, epoch uint64, positions iter.Seq2[int, uint64]) (news []feed.Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.of(m)
	switch {
	case epoch < p.epoch:
		return nil
	case epoch > p.epoch:
		p.epoch, p.seq = epoch, [feed.AllShards]uint64{}
	}
	for shard, seq := range positions {
		if seq > p.seq[shard] {
			p.seq[shard] = seq
			news = append(news, feed.Position{Shard: shard, Seq: seq})
		}
	}
	p.wake()
	return news
}

// wait waits until the member has acknowledged every one of the positions, or
// until the channel is ready, and reports whether it has.
func (t *Tracker) wait(m feed.Member, positions []links.Position, until <-chan time.Time) bool {
	for {
		reached, moved := t.look(m, positions)
		if reached {
			return true
		}
		select {
		case <-moved:
		case <-until:
			return t.reached(m, positions)
		}
	}
}

// look is reached, with what to wait for if it is not.
func (t *Tracker) look(m feed.Member, positions []links.Position) (reached bool, moved <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.of(m)
	if p.covers(positions) {
		return true, nil
	}
	if p.moved == nil {
		p.moved = make(chan struct{})
	}
	return false, p.moved
}

// reached reports whether the member has acknowledged every one of the
// positions.
func (t *Tracker) reached(m feed.Member, positions []links.Position) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.members[m]
	return p != nil && p.covers(positions)
}

// at is how far the member is in the shards of these positions, and whether it
// has acknowledged every one of them.
func (t *Tracker) at(m feed.Member, positions []links.Position) (at standing, acked bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.members[m]
	if p == nil || !p.covers(positions) {
		return nil, false
	}
	for _, pos := range positions {
		at = append(at, links.Position{Epoch: p.epoch, Shard: pos.Shard, Seq: p.seq[pos.Shard]})
	}
	return at, true
}

// of finds a member, or begins to know it. mu is held.
func (t *Tracker) of(m feed.Member) *progress {
	now := time.Now()
	p := t.members[m]
	if p == nil {
		t.makeRoom(now)
		p = &progress{}
		t.members[m] = p
	}
	p.touched = now
	return p
}

// makeRoom forgets idle members now and then, and where that is not enough any
// one: then the edge's next probe has to do for a barrier. mu is held.
func (t *Tracker) makeRoom(now time.Time) {
	full := len(t.members) >= maxTracked
	if since := now.Sub(t.swept); since >= idleLimit || full && since >= time.Second {
		t.swept = now
		for m, p := range t.members {
			if now.Sub(p.touched) >= idleLimit {
				t.forget(m, p)
			}
		}
	}
	for m, p := range t.members {
		if len(t.members) < maxTracked {
			return
		}
		t.forget(m, p)
	}
}

// forget also wakes those who wait, so that they look again. mu is held.
func (t *Tracker) forget(m feed.Member, p *progress) {
	delete(t.members, m)
	p.wake()
}

func (p *progress) wake() {
	if p.moved != nil {
		close(p.moved)
		p.moved = nil
	}
}

// covers compares within an epoch only: a member that has gone on to a newer one
// has what its database has, which need not be the change.
func (p *progress) covers(positions []links.Position) bool {
	for _, at := range positions {
		if p.epoch != at.Epoch || p.seq[at.Shard] < at.Seq {
			return false
		}
	}
	return true
}
