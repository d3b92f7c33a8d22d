package limit

import (
	"strconv"
	"time"
)

// Decision is the answer to one request.
type Decision struct {
	OK         bool // admitted
	RetryAfter int  // refused: whole seconds until a token is there, at least 1
}

// refusal rounds the wait for a token, in µs, up to whole seconds.
func refusal(wait int64) Decision {
	const second = int64(time.Second / time.Microsecond)
	return Decision{RetryAfter: int(max(1, (wait+second-1)/second))}
}

// AppendRetryAfter appends the value of Retry-After, in seconds, to dst.
func (d Decision) AppendRetryAfter(dst []byte) []byte {
	return strconv.AppendInt(dst, int64(d.RetryAfter), 10)
}

// AppendRateLimit appends the value of RateLimit for a refused request to dst:
// nothing remains, and the seconds until something does
// (draft-ietf-httpapi-ratelimit-headers-10).
func (d Decision) AppendRateLimit(dst []byte) []byte {
	dst = append(dst, `"client";r=0;t=`...)
	return d.AppendRetryAfter(dst)
}

// Policy returns the value of RateLimit-Policy: the burst, and the seconds in
// which an empty bucket is full again. It is empty in mode Off.
func (l *Limiter) Policy() string { return l.policy }

// policyOf is the policy of a bucket of burst tokens that is full after refill.
func policyOf(burst int, refill time.Duration) string {
	seconds := int64(max(1, (refill+time.Second-1)/time.Second))
	return `"client";q=` + strconv.Itoa(burst) + `;w=` + strconv.FormatInt(seconds, 10)
}
