package links

import (
	"time"

	"waypost/shared/feed"
)

// Edge is one run of an edge as PostgreSQL knows it.
type Edge = feed.Membership

// Roster is what one statement on the primary reads for probes and barriers.
type Roster struct {
	Heads feed.Heads
	// Edges are those a write has to reach: the ones that have not left, and the
	// ones that left less than BarrierBound ago, whose last leases may still run.
	Edges        []Edge
	BarrierBound time.Duration
}
