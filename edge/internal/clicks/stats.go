package clicks

import (
	"sync/atomic"
	"time"
)

// counts is what the parts of a Counter count.
type counts struct {
	shipped, stretches, retries atomic.Uint64
	folded                      atomic.Uint64
	late, unreadable, missing   atomic.Uint64
	refused, damaged            atomic.Uint64

	disk, behind, first atomic.Int64 // as last measured
}

// Stats is a snapshot of a Counter; numbers without a unit count since New.
// What the spool counts, the spool tells.
type Stats struct {
	InMemory   int64         // clicks that only memory holds now: what a kill would lose
	Lost       uint64        // clicks that not even memory had room for
	Shipped    uint64        // clicks that the origin is known to have, bots included
	Stretches  uint64        // that the origin has applied
	Retries    uint64        // sends that were not answered, or in vain
	Behind     time.Duration // age of the oldest click that was to be shipped and is not yet
	BehindSize int64         // bytes on disk that the origin has not got
	Disk       int64         // bytes of logs and of folded stretches
	OverBudget bool          // on disk
	Folded     uint64        // clicks that were folded to make room on disk
	LateVoids  uint64        // clicks that were counted although their answer was none
	Unreadable uint64        // records of a version that this one does not know
	Missing    uint64        // bytes of logs that the origin asked for once more when they were gone
	Refused    uint64        // clicks that no origin takes; they are in quarantine
	Damaged    uint64        // clicks in files that cannot be read, as far as their number is known; they are in quarantine

	Quarantined     int64 // files in quarantine, of earlier processes too
	QuarantineBytes int64
}

// Stats may be called at any time.
func (c *Counter) Stats() Stats {
	s := Stats{
		InMemory: c.memory.clicks.Load(), Lost: c.memory.lost.Load(),
		Shipped: c.counts.shipped.Load(), Stretches: c.counts.stretches.Load(), Retries: c.counts.retries.Load(),
		BehindSize: c.counts.behind.Load(), Disk: c.counts.disk.Load(), Folded: c.counts.folded.Load(),
		LateVoids:  c.counts.late.Load() + c.memory.late.Load(),
		Unreadable: c.counts.unreadable.Load(), Missing: c.counts.missing.Load(),
		Refused: c.counts.refused.Load(), Damaged: c.counts.damaged.Load(),
		Quarantined: c.shipper.quarantine.files.Load(), QuarantineBytes: c.shipper.quarantine.bytes.Load(),
	}
	s.OverBudget = s.Disk > c.cfg.Disk
	if first := c.counts.first.Load(); first > 0 {
		s.Behind = max(0, time.Duration(c.cfg.Clock()-first)*time.Microsecond)
	}
	return s
}

// measure notes how much there is to ship, and since when.
func (s *shipper) measure() {
	var disk, behind, first int64
	for _, src := range s.sources {
		disk += src.bytes()
		behind += src.behind()
		if src.first > 0 && (first == 0 || src.first < first) {
			first = src.first
		}
	}
	s.stats.disk.Store(disk)
	s.stats.behind.Store(behind)
	s.stats.first.Store(first)
}
