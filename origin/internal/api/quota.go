package api

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"waypost/origin/internal/links"
)

// limiter gives the tokens that creations cost: as many of those asked for as
// the key's bucket has. It always has an answer.
type limiter interface {
	Take(ctx context.Context, key string, a links.Allowance, asked int) links.Grant
}

// The headers that tell a key its allowance (draft-ietf-httpapi-ratelimit-headers-10).
const (
	rateLimit       = "RateLimit"
	rateLimitPolicy = "RateLimit-Policy"
)

// spend takes a token for each of n links that the request is to create, or as
// many as there are, and tells the client what is left. Links that turn out to be
// refused cost theirs too, so that guessing costs what creating does; what was
// created before and is only answered again is none of the n. An admin key has no
// bucket. The error is the 429 of a key that needs a token and has none.
func (a *API) spend(ctx context.Context, n int) (tokens int, err error) {
	key := keyOf(ctx)
	if a.limiter == nil || key.Admin() {
		return n, nil
	}
	allowance := key.Creates(a.allowance)
	grant := a.limiter.Take(ctx, key.ID, allowance, n)
	seconds := wholeSeconds(grant.Wait)
	refill := wholeSeconds(time.Duration(float64(allowance.Burst) / allowance.Rate * float64(time.Second)))
	answer := answerHeader(ctx)
	answer.Set(rateLimitPolicy, `"create";q=`+strconv.Itoa(allowance.Burst)+`;w=`+refill)
	answer.Set(rateLimit, `"create";r=`+strconv.Itoa(grant.Left)+`;t=`+seconds)
	if grant.Tokens == 0 && n > 0 {
		return 0, tooFast().with("Retry-After", seconds)
	}
	return grant.Tokens, nil
}

// limitNote says what the tokens are taken for.
func (op *operation) limitNote() string {
	if !op.limited {
		return ""
	}
	return " A link takes a token of the key's allowance, also one that is refused, or found by `reuse`, but not one that is answered again by its `Idempotency-Key`; " +
		"without a token it is 429. Keys with the scope `admin` are not limited."
}

// tooFast is the problem of a link for which there is no token.
func tooFast() *problemError {
	return newProblem(http.StatusTooManyRequests, "the key creates links faster than it may")
}

// wholeSeconds rounds up, and says 1 at least.
func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
