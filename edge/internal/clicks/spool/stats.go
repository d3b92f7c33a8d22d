package spool

import "sync/atomic"

// counts is what the parts of a spool count.
type counts struct {
	frames, held, refused   atomic.Uint64
	writes, syncs, failures atomic.Uint64
	damaged, passed         atomic.Uint64
}

// Stats is a snapshot of a spool; numbers without a unit count since Open.
type Stats struct {
	Stalled     bool   // the disk does not take what is held: appends are Held at once
	HeldBytes   uint64 // in memory now: what a kill would lose
	DiskBytes   int64  // of all logs
	Frames      uint64 // written
	Held        uint64 // appends that were told so; nearly all of their frames are written later
	Refused     uint64 // appends
	Writes      uint64 // each of them took all frames there were
	Syncs       uint64
	Failures    uint64 // of writing a segment, creating or sealing it
	Damaged     uint64 // segments of which Read or End had to pass over a part, or the whole
	PassedBytes uint64 // passed over in them
}

// Stats may be called at any time, also while the disk hangs.
func (s *Spool) Stats() Stats {
	var disk int64
	for _, l := range s.Logs() {
		disk += l.Bytes()
	}
	return Stats{
		Stalled: s.queue.stalled.Load(), HeldBytes: s.ring.held(), DiskBytes: disk,
		Frames: s.counts.frames.Load(), Held: s.counts.held.Load(), Refused: s.counts.refused.Load(),
		Writes: s.counts.writes.Load(), Syncs: s.counts.syncs.Load(), Failures: s.counts.failures.Load(),
		Damaged: s.counts.damaged.Load(), PassedBytes: s.counts.passed.Load(),
	}
}
