package follow

import (
	"sync/atomic"
	"time"
)

// window is for how long a probe's estimate of the clocks' difference is
// preferred to one with a longer round trip: clocks drift.
const window = 10 * time.Second

// Clock estimates PostgreSQL's clock from probes: the answer's time belongs to
// the middle of the round trip, so the error is at most half of it (Cristian
// 1989). The estimate with the shortest round trip of the last seconds counts.
type Clock struct {
	// now = base + time since the process started, by the monotonic clock, so
	// that a step of this machine's own clock changes nothing.
	estimate atomic.Pointer[estimate]
}

type estimate struct {
	at    time.Time // a local instant (with its monotonic reading) …
	now   int64     // … and PostgreSQL's clock at it, microseconds since 1970
	round time.Duration
}

// Observe takes one probe: the answered clock in microseconds since 1970, when
// the probe was sent and when its answer came. One goroutine at a time.
func (c *Clock) Observe(now int64, sent, received time.Time) {
	round := received.Sub(sent)
	old := c.estimate.Load()
	if old != nil && round > old.round && received.Sub(old.at) < window {
		return
	}
	c.estimate.Store(&estimate{at: sent.Add(round / 2), now: now, round: round})
}

// Now is the estimated clock in microseconds since 1970; this machine's own
// before the first observation. Safe for concurrent use.
func (c *Clock) Now() int64 {
	e := c.estimate.Load()
	if e == nil {
		return time.Now().UnixMicro()
	}
	return e.now + time.Since(e.at).Microseconds()
}
