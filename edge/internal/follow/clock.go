package follow

import (
	"math"
	"sync/atomic"
	"time"

	"waypost/shared/failpoint"
	"waypost/shared/feed"
)

// window is for how long a probe's estimate of the clocks' difference is
// preferred to one with a longer round trip: clocks drift.
const window = 10 * time.Second

// clock estimates PostgreSQL's clock from probes: the answer's time belongs to
// the middle of the round trip, so the error is at most half of it (Cristian
// 1989). The estimate with the shortest round trip of the last seconds counts.
// It stands on instants of the monotonic clock, so that a step of this
// machine's own clock changes nothing.
type clock struct {
	estimate atomic.Pointer[estimate]
}

type estimate struct {
	at    feed.Instant // a local instant …
	now   int64        // … and PostgreSQL's clock at it, microseconds since 1970
	round time.Duration
	guess bool // no probe was answered yet
}

// unmeasured is the round trip of an estimate that the next probe replaces.
const unmeasured = time.Duration(math.MaxInt64)

// guess takes this machine's clock until the first probe; start is the instant
// that Instants count from.
func (c *clock) guess(start time.Time) {
	c.estimate.Store(&estimate{at: 1, now: failpoint.Clock(start).UnixMicro(), round: unmeasured, guess: true})
}

// observe takes one probe: the answered clock in microseconds since 1970, when
// the probe was sent and when its answer came. One goroutine at a time.
func (c *clock) observe(now int64, sent, received feed.Instant) {
	round := time.Duration(received - sent)
	old := c.estimate.Load()
	if round > old.round && time.Duration(received-old.at) < window {
		return
	}
	c.estimate.Store(&estimate{at: sent + feed.Instant(round/2), now: now, round: round})
}

// skip moves the estimate on by time in which the monotonic clock stood still.
// The next probe replaces it, whatever its round trip. One goroutine at a time, the one of observe.
func (c *clock) skip(d time.Duration) {
	old := c.estimate.Load()
	c.estimate.Store(&estimate{at: old.at, now: old.now + d.Microseconds(), round: unmeasured, guess: old.guess})
}

// measured reports whether the estimate is a probe's.
func (c *clock) measured() bool { return c.estimate.Load().round != unmeasured }

// told reports whether the estimate came from a probe, if a long time ago. Safe
// for concurrent use.
func (c *clock) told() bool { return !c.estimate.Load().guess }

// at is the estimated clock at an instant, in microseconds since 1970. Safe for
// concurrent use.
func (c *clock) at(i feed.Instant) int64 {
	e := c.estimate.Load()
	return e.now + time.Duration(i-e.at).Microseconds()
}
