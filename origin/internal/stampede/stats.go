package stampede

import "sync/atomic"

// Stats counts what became of Loads since New. Joined + Refused + the flights
// that ran make all Loads; a flight ends as Shared or begins one read.
type Stats struct {
	Loaded       uint64 // reads of PostgreSQL begun
	Joined       uint64 // answered by a load of this origin that was under way
	Shared       uint64 // answered by a result in Redis
	WaitedOut    uint64 // read PostgreSQL because the lock stayed with another one
	RedisFailed  uint64 // read PostgreSQL because Redis did not answer
	RedisSkipped uint64 // read PostgreSQL because Redis had failed a moment before
	Refused      uint64 // turned away: too much under way, or no turn in time
}

type counters struct {
	loaded, joined, shared, waitedOut, redisFailed, redisSkipped, refused atomic.Uint64
}

// Stats is a snapshot; its numbers are exact each, not all of one instant.
func (l *Loader) Stats() Stats {
	c := &l.count
	return Stats{
		Loaded:       c.loaded.Load(),
		Joined:       c.joined.Load(),
		Shared:       c.shared.Load(),
		WaitedOut:    c.waitedOut.Load(),
		RedisFailed:  c.redisFailed.Load(),
		RedisSkipped: c.redisSkipped.Load(),
		Refused:      c.refused.Load(),
	}
}
