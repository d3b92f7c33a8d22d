package limit

import (
	"math"
	"time"

	"waypost/origin/internal/links"
)

// bucket is an allowance in µs: a token comes every interval, and a full bucket
// holds depth µs' worth of them. What a bucket lacks is the time until it is
// full, which is all that has to be kept of it. (This is the generic cell rate
// algorithm of ATM Forum TM 4.0, 4.4.2; full is its theoretical arrival time.)
type bucket struct{ interval, depth int64 }

// bucketOf rounds the interval up, so that nobody gets more than the allowance.
func bucketOf(a links.Allowance) bucket {
	interval := int64(math.Ceil(1e6 / a.Rate))
	return bucket{interval: interval, depth: int64(a.Burst) * interval}
}

// take takes as many of the tokens asked for as there are at now. full is when
// the bucket is full, in µs of the same clock: 0 for a bucket that is. No more is
// missing than all of it, also after the clock was set back, or the allowance
// changed. left is what stays, in µs.
func (b bucket) take(full, now, asked int64) (after, given, left int64) {
	full = min(max(full, now), now+b.depth)
	given = min(asked, (b.depth-(full-now))/b.interval)
	after = full + given*b.interval
	return after, given, b.depth - (after - now)
}

// grant is what take gave, in the words of the rules.
func (b bucket) grant(given, left int64) links.Grant {
	g := links.Grant{Tokens: int(given), Left: int(left / b.interval)}
	if left < b.depth {
		g.Wait = time.Duration(b.interval-left%b.interval) * time.Microsecond
	}
	return g
}
