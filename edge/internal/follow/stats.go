package follow

import (
	"sync/atomic"
	"time"

	"waypost/shared/feed"
)

type counters struct {
	dropped, gaps, repaired, caughtUp, stateFaults atomic.Uint64
}

// Stats counts since the start.
type Stats struct {
	Dropped     uint64 // feed messages dropped because too many waited
	Gaps        uint64 // times a shard was seen to lack changes
	Repaired    uint64 // times it had all of them again
	CaughtUp    uint64 // changes that came from the origin instead of the feed
	Suspends    uint64 // times the machine was found to have been suspended
	AcksSent    uint64 // acknowledgements that NATS or every origin took
	AckFaults   uint64 // those that were lost; the next probe stands in for them
	StateFaults uint64 // times the table could not be saved
}

// Stats may be called at any time.
func (f *Follower) Stats() Stats {
	return Stats{
		Dropped: f.stats.dropped.Load(), Gaps: f.stats.gaps.Load(), Repaired: f.stats.repaired.Load(),
		CaughtUp: f.stats.caughtUp.Load(), Suspends: f.suspends.count.Load(),
		AcksSent: f.acker.sent.Load(), AckFaults: f.acker.faults.Load(), StateFaults: f.stats.stateFaults.Load(),
	}
}

// LeaseAge is how old the oldest lease of all shards is, or how long ago the
// start was where a shard has none. Safe for concurrent use.
func (f *Follower) LeaseAge() time.Duration {
	now := f.Instant()
	oldest := now
	for shard := range feed.AllShards {
		oldest = min(oldest, f.cfg.Table.Lease(shard))
	}
	return time.Duration(now - oldest)
}
