package follow

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"waypost/shared/feed"
)

// bound is B as the origins hand it out.
type bound struct {
	value atomic.Int64 // nanoseconds; 0 before the first answer
	round atomic.Int64 // smoothed round trip of probes, nanoseconds; 0 before the first answer
	sent  feed.Instant // when the probe was sent that B is from
	tight bool         // B leaves no room for a probe and its repeat
}

// Bound is how old an unmarked answer may be: what was read at the instant of
// a lease is fresh for so long. 0, which makes nothing fresh, before the first
// probe was answered. Safe for concurrent use.
func (f *Follower) Bound() time.Duration { return time.Duration(f.bound.value.Load()) }

// observe takes an answer's B before its lease is granted. Of answers that
// overtook each other the one that was asked for last counts: a B that was
// lowered must not come back.
func (f *Follower) observe(ctx context.Context, p probed) {
	b := &f.bound
	if p.sent >= b.sent {
		b.sent = p.sent
		b.value.Store(max(0, p.heads.Bound) * int64(time.Microsecond))
	}
	round := int64(p.received - p.sent)
	if old := b.round.Load(); old != 0 {
		const gain = 8 // as RFC 6298 smooths
		round = old + (round-old)/gain
	}
	b.round.Store(round)
	f.warn(ctx)
}

// warn says once when B begins, and once when it ceases, to be too short for a
// lease to live until the probe after the next.
func (f *Follower) warn(ctx context.Context) {
	least := 2 * (probeEvery + f.Round())
	tight := f.Bound() < least
	if tight == f.bound.tight {
		return
	}
	f.bound.tight = tight
	attrs := []slog.Attr{slog.Duration("bound", f.Bound()), slog.Duration("least", least)}
	if !tight {
		f.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "the stale bound leaves room for probes again", attrs...)
		return
	}
	f.cfg.Logger.LogAttrs(ctx, slog.LevelWarn,
		"the stale bound is too short for the round trip to the origin; answers will be marked stale", attrs...)
}

// Round is the smoothed round trip of probes; 0 before the first was answered.
// Safe for concurrent use.
func (f *Follower) Round() time.Duration { return time.Duration(f.bound.round.Load()) }
