package redirect

import (
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Marking says how an answer goes out.
type Marking uint8

// The markings.
const (
	Unmarked Marking = iota // at most B old
	Marked                  // as stale
	Withheld                // not at all: 503
)

// Mark decides at the moment the answer goes out, by the lease that was loaded
// before anything was looked up. Without a lease an available link is marked,
// up to the cap; a strict one is withheld, and so is an absent entry, a
// tombstone among them: a 404 is never invented. age is the time since the
// lease, or since Config.Since where there is none.
func (r *Resolver) Mark(a Answer, at feed.Instant) (how Marking, age time.Duration) {
	if !a.Stale && a.Lease != 0 && time.Duration(at-a.Lease) <= r.bound() {
		return Unmarked, 0
	}
	if a.Lease == 0 {
		a.Lease = r.since()
	}
	age = time.Duration(at - a.Lease)
	if a.Entry.State == feed.Absent || a.Entry.Class == link.Strict || age > r.cap {
		return Withheld, age
	}
	return Marked, age
}
