package redirect

import "waypost/shared/feed"

// Verdict says what a visitor gets for an entry at one moment.
type Verdict uint8

// The verdicts.
const (
	Live    Verdict = iota // redirect to the target
	Moved                  // expired, and expired_url says where to go instead
	Unknown                // no such link, or not yet
	Ended                  // expired, and nothing of the link says where to go instead
	Gone                   // disabled
)

// Judge decides by the entry's own fields and now, in microseconds since 1970
// by PostgreSQL's clock. It is asked on every hit from any tier: a link's time
// passes without a change.
func Judge(e *feed.Entry, now int64) Verdict {
	switch {
	case e.State == feed.Absent:
		return Unknown
	case e.State == feed.Disabled:
		return Gone
	case e.ExpiresAt != 0 && now >= e.ExpiresAt:
		if e.ExpiredURL != "" {
			return Moved
		}
		return Ended
	case now < e.StartsAt:
		return Unknown
	}
	return Live
}
