package edges

import (
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

// Tracker remembers the highest position of each shard that each edge has
// acknowledged: floor and applied are stored there. What it does not know, as
// after a restart of the origin, the edge's next probe or acknowledgement tells.
// It is safe for concurrent use.
type Tracker struct {
	taken [ways]atomic.Uint64

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
func NewTracker() *Tracker {
	return &Tracker{members: make(map[feed.Member]*progress), swept: time.Now()}
}

// take moves a member on. Acknowledgements may come late, repeated and out of
// order; a newer epoch begins anew, an older one is dropped.
func (t *Tracker) take(by Way, m feed.Member, epoch uint64, positions func(yield func(shard int, seq uint64) bool)) {
	t.taken[by].Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.of(m)
	switch {
	case epoch < p.epoch:
		return
	case epoch > p.epoch:
		p.epoch, p.seq = epoch, [feed.AllShards]uint64{}
	}
	for shard, seq := range positions {
		p.seq[shard] = max(p.seq[shard], seq)
	}
	p.wake()
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
