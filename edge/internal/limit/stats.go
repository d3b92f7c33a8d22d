package limit

import "time"

// Stats is what a limiter has counted since New.
type Stats struct {
	Admitted     uint64
	Limited      uint64
	TakenOver    uint64        // buckets that went to another client before they were full, for want of room
	Settled      uint64        // client buckets settled with Redis
	SettleErrors uint64        // settling rounds and probes that failed
	RedisUp      bool          // false: local buckets only
	Window       time.Duration // from the start of the last round but one to the end of the last: Settle and a round trip, if all is well
}

// Stats returns the counters. It adds them up over the table, some 10 µs at the
// default size; it is for a scrape, not for a request.
func (l *Limiter) Stats() Stats {
	if l.mode == Off {
		return Stats{}
	}
	s := Stats{
		TakenOver:    l.table.taken.Load(),
		Settled:      l.settled.Load(),
		SettleErrors: l.settleErrors.Load(),
		RedisUp:      !l.alone(),
		Window:       time.Duration(l.window.Load()),
	}
	for i := range l.table.sets {
		s.Admitted += l.table.sets[i].admitted.Load()
		s.Limited += l.table.sets[i].limited.Load()
	}
	return s
}
