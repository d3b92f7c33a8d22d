package follow

import (
	"time"

	"waypost/shared/feed"
)

// maxPending bounds the later changes kept for one shard while earlier ones
// are missing.
const maxPending = 1024

// progress is what the follower keeps of one shard beside the table.
type progress struct {
	pending map[uint64]message // later changes, by position
	head    uint64             // the highest position known to exist
	gapAt   time.Time          // when a missing change was first noticed; zero: none
	lost    bool               // it did not come in time: this gap is counted
	retryAt time.Time          // not before this, after a failed fetch
	fails   int
	fetch   bool // one is on its way
}

// take applies a change if it is the next of its shard, and keeps it if it is a
// later one. What is applied, now or before, is acknowledged.
func (f *Follower) take(m message, now time.Time) {
	p := &f.shard[m.Shard]
	switch f.apply(m) {
	case feed.Applied:
		f.drain(m.Shard)
	case feed.Gap:
		if len(p.pending) < maxPending {
			if p.pending == nil {
				p.pending = make(map[uint64]message)
			}
			p.pending[m.Seq] = m
		}
		f.gap(m.Shard, m.Seq, now)
	case feed.OtherEpoch:
		if epoch, _, _ := f.cfg.Table.Position(m.Shard); m.Epoch > epoch {
			f.Probe()
		}
	case feed.Repeated:
		f.acker.add(m)
	}
}

// apply hands a change to the table. The config is replaced before its position
// is stored, so that whoever sees the position sees the config.
func (f *Follower) apply(m message) feed.Outcome {
	c := m.Change
	if c.Shard == feed.ConfigShard {
		cfg := f.config.Load()
		if cfg != nil && cfg.Epoch == c.Epoch && cfg.Seq+1 == c.Seq {
			f.config.Store(cfg.With(c))
		}
	}
	outcome := f.cfg.Table.Apply(c)
	if outcome != feed.Applied {
		return outcome
	}
	f.acker.add(m)
	if f.cfg.Applied != nil {
		f.cfg.Applied(c)
	}
	if f.cfg.Lag != nil && c.At != 0 && f.clock.measured() {
		_, now := f.Clock()
		f.cfg.Lag(max(0, time.Duration(now-c.At)*time.Microsecond))
	}
	return outcome
}

// drain applies the kept changes that have become the next ones, forgets those
// that were overtaken, and ends the gap once everything known of is applied.
func (f *Follower) drain(shard int) {
	p := &f.shard[shard]
	_, applied, _ := f.cfg.Table.Position(shard)
	for len(p.pending) > 0 {
		m, ok := p.pending[applied+1]
		if !ok {
			break
		}
		delete(p.pending, m.Seq)
		if f.apply(m) != feed.Applied {
			break
		}
		applied++
	}
	for seq, m := range p.pending {
		if seq <= applied {
			delete(p.pending, seq)
			f.acker.add(m)
		}
	}
	if applied >= p.head && len(p.pending) == 0 && !p.gapAt.IsZero() {
		p.gapAt = time.Time{}
		if p.lost {
			p.lost = false
			f.stats.repaired.Add(1)
		}
	}
}
