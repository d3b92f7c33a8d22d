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
	Gaps        uint64 // times a shard lacked changes that had not come in time
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

// LeaseAge is how old the oldest lease of all shards is; a shard without one
// counts from Since. Safe for concurrent use.
func (f *Follower) LeaseAge() time.Duration { return time.Duration(f.Instant() - f.oldestLease()) }

func (f *Follower) oldestLease() feed.Instant {
	oldest := f.Instant()
	for shard := range feed.AllShards {
		lease := f.cfg.Table.Lease(shard)
		if lease == 0 {
			lease = f.Since()
		}
		oldest = min(oldest, lease)
	}
	return oldest
}

// Since is the instant that what is served without a lease counts from: the
// start, or, once the machine was suspended, the oldest lease that it ended, with
// the time for which the clock of Instants then stood still. Safe for concurrent
// use.
func (f *Follower) Since() feed.Instant { return feed.Instant(f.since.Load()) }
