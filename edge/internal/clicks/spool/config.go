package spool

import (
	"log/slog"
	"time"
)

// Config says where a spool is and what it may use. Zero values mean the
// defaults given here; Dir has none.
type Config struct {
	Dir          string        // the folder of all logs, made if missing; one process uses it at a time
	Label        string        // stands in the header of each segment, at most MaxLabel bytes
	SegmentBytes int64         // a segment is sealed once it holds that much (64 MiB)
	SegmentAge   time.Duration // or is that old (10 min)
	Group        bool          // fdatasync before an append is Written, one for all that wait
	Limit        time.Duration // an append that waited that long is Held (5 ms); with Group above what a fdatasync takes
	BufferBytes  int           // of memory, for what is not yet written; rounded up to a power of two (4 MiB), at least 256 KiB
	Logger       *slog.Logger  // gets a line when writes begin to fail and when they succeed again (none)
}

func (c Config) withDefaults() Config {
	if c.SegmentBytes <= 0 {
		c.SegmentBytes = 64 << 20
	}
	if c.SegmentAge <= 0 {
		c.SegmentAge = 10 * time.Minute
	}
	if c.Limit <= 0 {
		c.Limit = 5 * time.Millisecond
	}
	c.Limit = max(c.Limit, 100*time.Microsecond)
	if c.BufferBytes <= 0 {
		c.BufferBytes = 4 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
