package follow

import (
	"time"

	"waypost/shared/feed"
)

// Instant is now by the clock that leases are kept in: monotonic, one clock
// read. Safe for concurrent use.
func (f *Follower) Instant() feed.Instant { return feed.Instant(time.Since(f.start)) + 1 }

// Clock is Instant and PostgreSQL's clock at it, in microseconds since 1970, as
// estimated from the probes; until the first one, while Told is false, this
// machine's own as it stood at the start. Safe for concurrent use.
func (f *Follower) Clock() (at feed.Instant, now int64) {
	at = f.Instant()
	return at, f.clock.at(at)
}

// Told reports whether a probe has told PostgreSQL's clock. This machine's own may
// be wrong by any amount: nothing begins or ends by it. Once true it stays so;
// read it before the clock that it is to vouch for. Safe for concurrent use.
func (f *Follower) Told() bool { return f.clock.told() }
