package l2

import "sync/atomic"

// Stats counts since New, except where a field says otherwise.
type Stats struct {
	Lookups   uint64 // all of them
	Hits      uint64 // with a value
	Negatives uint64 // with a filter's "no"
	Faults    uint64 // that ended in an error of Redis
	Skipped   uint64 // that did not ask because the breaker was open
	Stores    uint64 // entries that reached Redis, older than what is there or not
	Dropped   uint64 // entries that did not: queue full, or a fault
	Overflows uint64 // changes that did not fit a shard's backlog
	Repairs   uint64 // answers of the origin by which filters caught up
	Rebuilds  uint64 // filters built anew and stored by this edge
	Distrusts uint64 // filters found wrong by a value they did not know
	Takeovers uint64 // times this edge became the region's writer

	Writer      bool    // this edge is the region's writer now
	Fill        float64 // keys in the fullest filter against those it is laid out for, at the writer's last look
	BreakerOpen bool    // now
	Filters     uint64  // usable ones of feed.Shards, at the last check
	Lag         uint64  // positions that the furthest filter was behind this edge, at the last check
}

type counters struct {
	lookups, hits, negatives, faults, skipped atomic.Uint64
	stores, dropped, overflows                atomic.Uint64
	repairs, rebuilds, distrusts              atomic.Uint64
	takeovers, fill                           atomic.Uint64
	filters, lag                              atomic.Uint64
}

// Generation is that of a shard's filter at the last check, drawn anew with every
// filter that is built; 0 where there was none.
func (c *Cache) Generation(shard int) uint32 { return c.filters[shard].generation.Load() }

// Stats reads the counters, one after the other.
func (c *Cache) Stats() Stats {
	n := &c.count
	return Stats{
		Lookups:     n.lookups.Load(),
		Hits:        n.hits.Load(),
		Negatives:   n.negatives.Load(),
		Faults:      n.faults.Load(),
		Skipped:     n.skipped.Load(),
		Stores:      n.stores.Load(),
		Dropped:     n.dropped.Load(),
		Overflows:   n.overflows.Load(),
		Repairs:     n.repairs.Load(),
		Rebuilds:    n.rebuilds.Load(),
		Distrusts:   n.distrusts.Load(),
		Takeovers:   n.takeovers.Load(),
		Writer:      c.writes(),
		Fill:        float64(n.fill.Load()) / 1e6,
		BreakerOpen: c.breaker.open.Load(),
		Filters:     n.filters.Load(),
		Lag:         n.lag.Load(),
	}
}
