package follow

import (
	"time"

	"waypost/shared/feed"
)

// Instant is now by the clock that leases are kept in: monotonic, one clock
// read. Safe for concurrent use.
func (f *Follower) Instant() feed.Instant { return feed.Instant(time.Since(f.start)) + 1 }

// Clock is Instant and PostgreSQL's clock at it, in microseconds since 1970, as
// estimated from the probes; until the first one, this machine's own as it
// stood at the start. Safe for concurrent use.
func (f *Follower) Clock() (at feed.Instant, now int64) {
	at = f.Instant()
	return at, f.clock.at(at)
}
