package follow

import (
	"time"

	"waypost/shared/feed"
)

// startPatience is for how long after its start an edge says nothing of its
// leases while it has none yet and no probe has failed: they are on their way.
const startPatience = 2 * time.Second

// holding is what was last said of the leases.
type holding struct{ said, held bool }

// tellHeld says when every shard's lease begins, or ceases, to be younger than
// the bound. Until then an edge that starts is not ready; without an origin, or
// with much to catch up, it says so in the end and answers what it may.
func (f *Follower) tellHeld() {
	held := f.holds()
	patient := !f.probing.failed && time.Since(f.start) < startPatience
	switch {
	case f.holding.said && held == f.holding.held:
		return
	case !held && !f.holding.said && patient:
		return
	case f.leaving.done != nil: // no probe renews them any more
		return
	}
	f.holding = holding{said: true, held: held}
	if f.cfg.Held != nil {
		f.cfg.Held(held)
	}
}

// holds reports whether every shard has a lease that lasts.
func (f *Follower) holds() bool {
	now, bound := f.Instant(), f.Bound()
	for shard := range feed.AllShards {
		lease := f.cfg.Table.Lease(shard)
		if lease == 0 || time.Duration(now-lease) > bound {
			return false
		}
	}
	return true
}
