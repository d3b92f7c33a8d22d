package follow

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"waypost/shared/feed"
)

// maxStill is for how long the monotonic clock may stand still unnoticed.
const maxStill = 50 * time.Millisecond

// suspends notices that the machine was suspended: meanwhile the monotonic
// clock stood still, so that leases look younger than they are, while
// CLOCK_BOOTTIME went on (clock_gettime(2)).
type suspends struct {
	read  func() (lead time.Duration, err error) // how far CLOCK_BOOTTIME is ahead
	lead  time.Duration                          // the furthest it was seen to be
	began bool
	count atomic.Uint64
}

// since returns for how long the machine was suspended since the last call; 0
// for not at all.
func (s *suspends) since() time.Duration {
	lead, err := s.read()
	if err != nil {
		return 0 // a kernel without the clock: nothing to compare
	}
	still := lead - s.lead
	s.lead = max(s.lead, lead)
	if !s.began || still <= maxStill {
		s.began = true
		return 0
	}
	return still
}

// bootLead reads CLOCK_BOOTTIME first: a pause between the two reads then makes
// the lead look smaller, never like a suspend.
func bootLead() (time.Duration, error) {
	var boot, mono unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil {
		return 0, err
	}
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono); err != nil {
		return 0, err
	}
	return time.Duration(boot.Nano() - mono.Nano()), nil
}

// wake ends every lease after a suspend, along with the answers that are still
// to come for probes sent before it, and probes at once.
func (f *Follower) wake(ctx context.Context) {
	still := f.suspends.since()
	if still == 0 {
		return
	}
	f.suspends.count.Add(1)
	f.since.Store(int64(f.oldestLease() - feed.Instant(still)))
	f.cfg.Table.DropLeases()
	f.clock.skip(still)
	f.probing.flying = 0
	f.probe(ctx)
	f.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "the machine was suspended; every lease is dropped", slog.Duration("for", still))
}
