package positions

import (
	"time"

	"waypost/bench/measure"
	"waypost/shared/feed"
)

// Spread is how long changes took to be applied everywhere: until the last member's acknowledgement of each was heard.
type Spread struct {
	Changes int
	Missing int // pairs of a change and a member without an acknowledgement, changes and messages not heard or not readable

	// FromCommit counts from when PostgreSQL began to write the commit to disk: longer than from commit to applied.
	// FromWrite counts from the change's own time stamp, which is earlier in its transaction. FromHeard counts from when
	// the change was heard, after its commit: without what publishing took.
	FromCommit, FromWrite, FromHeard measure.Sample
}

// Spread looks at the changes after the positions in from, up to those in to, and at the acknowledgements of members
// whose id passes of; of them there must be n. back is time that each acknowledgement is known to have been held on its
// way to the watch, after it was applied.
func (h *heard) Spread(from, to *feed.Heads, n int, of func(id string) bool, back time.Duration) Spread {
	h.mu.Lock()
	defer h.mu.Unlock()
	last, acks := map[feed.Position]time.Time{}, map[feed.Position]int{}
	for member, said := range h.acks {
		if of(member.ID) {
			applied(said, from, to, func(p feed.Position, at time.Time) {
				acks[p]++
				if at.After(last[p]) {
					last[p] = at
				}
			})
		}
	}
	s := Spread{Missing: h.damaged}
	var committed, written, seen []time.Duration
	for shard := range from.Seq {
		for seq := from.Seq[shard] + 1; seq <= to.Seq[shard]; seq++ {
			p := feed.Position{Shard: shard, Seq: seq}
			c, ok := h.changes[p]
			s.Changes++
			switch {
			case !ok || c.committed.IsZero():
				s.Missing++
			case acks[p] < n:
				s.Missing += n - acks[p]
			default:
				end := last[p].Add(-back)
				committed = append(committed, end.Sub(c.committed))
				written = append(written, end.Sub(c.written))
				seen = append(seen, max(end.Sub(c.heard), 0))
			}
		}
	}
	s.FromCommit, s.FromWrite, s.FromHeard = measure.NewSample(committed), measure.NewSample(written), measure.NewSample(seen)
	return s
}

// applied tells when one member was first heard to have each position after from, up to to. What it said is in the
// order in which it came; a position that it passed in one step it has from that moment on.
func applied(said []ack, from, to *feed.Heads, tell func(p feed.Position, at time.Time)) {
	next := from.Seq
	for _, a := range said {
		for ; next[a.Shard] < min(a.Seq, to.Seq[a.Shard]); next[a.Shard]++ {
			tell(feed.Position{Shard: a.Shard, Seq: next[a.Shard] + 1}, a.heard)
		}
	}
}
