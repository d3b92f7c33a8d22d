package edges

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// The bounds of what edges can make PostgreSQL write.
const (
	maxMembers = 10_000 // edges at the same time, beyond which none may join

	joinRate  = 200 // a second, which is also how fast a fleet comes up
	joinBurst = 1000

	bumpEvery = 10 * time.Second // on average, at the least
	bumpBurst = 16
)

// The reasons why a probe is not answered for now. Each wraps
// link.ErrUnavailable, which asks the edge to come again.
var (
	errCrowded  = fmt.Errorf("as many edges as there may be: %w", link.ErrUnavailable)
	errJoins    = fmt.Errorf("too many edges join at the same time: %w", link.ErrUnavailable)
	errLeft     = fmt.Errorf("the edge was taken off meanwhile: %w", link.ErrUnavailable)
	errTooAhead = fmt.Errorf("the edge is ahead of the primary, whose epoch was bumped often enough: %w", link.ErrUnavailable)
)

// membership is PostgreSQL's list of edges, and its epoch.
type membership interface {
	// Join has committed when it returns.
	Join(ctx context.Context, m feed.Member) error
	// Leave marks those that have not left.
	Leave(ctx context.Context, ms []feed.Member) error
	// BumpEpochFrom bumps the epoch if it is the one that was seen.
	BumpEpochFrom(ctx context.Context, seen uint64) error
}

// Probes answers the probes of all edges. It is safe for concurrent use.
type Probes struct {
	members membership
	rosters *Rosters
	tracker *Tracker
	joins   *rate.Limiter
	bumps   *rate.Limiter
	bumping sync.Mutex

	answered, refused, joined, bumped atomic.Uint64
}

// NewProbes returns Probes.
func NewProbes(members membership, rosters *Rosters, tracker *Tracker) *Probes {
	return &Probes{
		members: members, rosters: rosters, tracker: tracker,
		joins: rate.NewLimiter(joinRate, joinBurst),
		bumps: rate.NewLimiter(rate.Every(bumpEvery), bumpBurst),
	}
}

// Answer answers a probe with heads that were read after it was called, in one
// statement that also showed the edge to be a member. With them the edge may
// renew its leases, so nobody else is given any: an edge that is unknown, or has
// left, joins first. A probe of an edge that leaves is answered with the zero
// Heads, which are of no epoch and renew nothing.
//
// Errors wrap link.ErrUnavailable or are those of ctx: the edge may try again.
// Any other is a fault.
func (p *Probes) Answer(ctx context.Context, probe *feed.Probe) (*feed.Heads, error) {
	heads, err := p.answer(ctx, probe)
	if err != nil {
		p.refused.Add(1)
		return nil, fmt.Errorf("probe of %s: %w", probe.Member.ID, err)
	}
	p.answered.Add(1)
	return heads, nil
}

func (p *Probes) answer(ctx context.Context, probe *feed.Probe) (*feed.Heads, error) {
	if probe.Leaving {
		p.tracker.takeProbe(probe)
		return &feed.Heads{}, p.members.Leave(ctx, []feed.Member{probe.Member})
	}
	r, err := p.shown(ctx, probe.Member)
	if err == nil && ahead(probe, &r.Heads) {
		// What it has applied is not what these positions hold now: no
		// acknowledgement of them.
		return p.bump(ctx, probe.Member, r.Heads.Epoch)
	}
	p.tracker.takeProbe(probe) // true also while PostgreSQL is away
	if err != nil {
		return nil, err
	}
	return &r.Heads, nil
}

// shown returns a roster on which the member is. A member that has to join is
// read again after its join was committed, and not given what was read before:
// a write that came in between did not find it on its roster and did not wait.
func (p *Probes) shown(ctx context.Context, m feed.Member) (*roster, error) {
	r, err := p.rosters.read(ctx)
	if err != nil || r.present[m] {
		return r, err
	}
	switch {
	case len(r.Edges) >= maxMembers:
		return nil, errCrowded
	case !p.joins.Allow():
		return nil, errJoins
	}
	if err := p.members.Join(ctx, m); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	p.joined.Add(1)
	return p.still(ctx, m)
}

// still returns a roster that was read after what is known now, if the member
// is on it.
func (p *Probes) still(ctx context.Context, m feed.Member) (*roster, error) {
	r, err := p.rosters.read(ctx)
	if err == nil && !r.present[m] {
		return nil, errLeft // a barrier waited for it in vain
	}
	return r, err
}

// ahead reports whether the edge has been where the primary has not: then the
// primary was set back without a new epoch, or to one before the edge's.
func ahead(p *feed.Probe, h *feed.Heads) bool {
	if p.Epoch != h.Epoch {
		return p.Epoch > h.Epoch
	}
	for shard, seq := range p.Applied {
		if seq > h.Seq[shard] {
			return true
		}
	}
	return false
}

// bump begins a new epoch after the one that was seen, once for all who saw it,
// and returns its heads. One step is enough unless the edge's epoch is further
// on; then its next probes take the others. Bumps are limited, since each makes
// all edges start anew.
func (p *Probes) bump(ctx context.Context, m feed.Member, seen uint64) (*feed.Heads, error) {
	p.bumping.Lock()
	defer p.bumping.Unlock()
	r, err := p.still(ctx, m)
	switch {
	case err != nil:
		return nil, err
	case r.Heads.Epoch != seen:
		return &r.Heads, nil
	case !p.bumps.Allow():
		return nil, errTooAhead
	}
	if err := p.members.BumpEpochFrom(ctx, seen); err != nil {
		return nil, fmt.Errorf("bump of epoch %d: %w", seen, err)
	}
	p.bumped.Add(1)
	if r, err = p.still(ctx, m); err != nil {
		return nil, err
	}
	return &r.Heads, nil
}

// Heads returns heads that were read after it was called, for somebody to look
// at: no lease may rest on them, since nobody waits for whom reads them.
func (p *Probes) Heads(ctx context.Context) (*feed.Heads, error) {
	r, err := p.rosters.read(ctx)
	if err != nil {
		return nil, err
	}
	return &r.Heads, nil
}

// ProbeStats counts since NewProbes.
type ProbeStats struct {
	Answered uint64
	Refused  uint64 // not answered: PostgreSQL was away, or a bound was reached
	Joined   uint64 // joins, among the answered and refused
	Bumped   uint64 // epochs begun because an edge was ahead
}

// Stats is a snapshot.
func (p *Probes) Stats() ProbeStats {
	return ProbeStats{
		Answered: p.answered.Load(), Refused: p.refused.Load(),
		Joined: p.joined.Load(), Bumped: p.bumped.Load(),
	}
}
