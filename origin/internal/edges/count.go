package edges

import (
	"context"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

// lookAgain bounds the read that count may need.
const lookAgain = time.Second

// counted is how many edges of a roster have acknowledged a write, and which of
// the others had not left.
type counted struct {
	acked  int
	silent []feed.Member
}

// count counts. What an edge has acknowledged is, as a rule, the write or one
// after it. It may also be one before it that PostgreSQL has lost since, where it
// was put back to an older state without a new epoch: then the edge takes the
// write for a repeat. So whoever is further than the roster, which was read after
// the commit, is held against one that is read after the edge has said so, and is
// not counted if it is further than that one, too. Its next probe begins an epoch.
func (b *Barrier) count(ctx context.Context, r *roster, positions []links.Position) (c counted) {
	var doubted []standing
	for _, e := range r.Edges {
		at, acked := b.tracker.at(e.Member, positions)
		switch {
		case !acked && e.LeftAt.IsZero():
			c.silent = append(c.silent, e.Member)
		case !acked:
		case at.within(&r.Heads):
			c.acked++
		default:
			doubted = append(doubted, at)
		}
	}
	if len(doubted) == 0 {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	r, err := b.rosters.read(ctx)
	if err != nil {
		return c // nobody is counted on a guess
	}
	for _, at := range doubted {
		if at.within(&r.Heads) {
			c.acked++
		}
	}
	return c
}

// heard is how many edges of a roster from before the write have acknowledged
// it, for when PostgreSQL does not say more.
func (b *Barrier) heard(r *roster, positions []links.Position) (acked int) {
	for _, e := range r.Edges {
		if b.tracker.reached(e.Member, positions) {
			acked++
		}
	}
	return acked
}

// standing is how far an edge is in the shards of a write, all in one epoch.
type standing []links.Position

// within reports whether these positions exist.
func (s standing) within(h *feed.Heads) bool {
	for _, at := range s {
		if at.Epoch != h.Epoch || at.Seq > h.Seq[at.Shard] {
			return false
		}
	}
	return true
}
