package httpd

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/shared/feed"
)

const (
	headerCacheStatus     = "Cache-Status"
	headerRateLimit       = "RateLimit"
	headerRateLimitPolicy = "RateLimit-Policy"
	noStore               = "no-store"
	pathRobots            = "/robots.txt"
	pathIcon              = "/favicon.ico"
	textPlain             = "text/plain; charset=utf-8"

	// keepSeconds is for how long a browser may keep a permanent redirect,
	// which no purge can reach there.
	keepSeconds = 60
	// retrySeconds is when a visitor may try again after a 503.
	retrySeconds = "1"
)

// cacheStatus holds the values of Cache-Status (RFC 9211), made once.
type cacheStatus struct {
	l1, l2, filter, origin, stale, missed, bypass []byte

	aged, bypassAged []byte // up to the number of seconds, for answers that are marked
}

func newCacheStatus(region string) cacheStatus {
	made := func(rest string) []byte { return []byte("waypost-" + region + rest) }
	return cacheStatus{
		l1:     made("; hit; detail=l1"),
		l2:     made("; hit; detail=l2"),
		filter: made("; hit; detail=filter"),
		origin: made("; fwd=miss; detail=origin"),
		stale:  made("; fwd=stale; detail=origin"),
		missed: made("; fwd=miss"),
		bypass: made("; fwd=bypass"),
		aged:   made("; hit; ttl=-"),

		bypassAged: made("; fwd=bypass; ttl=-"),
	}
}

func (c *cacheStatus) of(a *redirect.Answer) []byte {
	switch a.Tier {
	case redirect.L1:
		return c.l1
	case redirect.L2:
		return c.l2
	case redirect.Filter:
		return c.filter
	case redirect.Origin:
		if a.Refused {
			return c.stale
		}
	}
	return c.origin
}

func setCacheStatus(ctx *fasthttp.RequestCtx, value []byte) {
	ctx.Response.Header.SetCanonical([]byte(headerCacheStatus), value)
}

// forbid tells everybody on the way to keep no copy.
func forbid(header *fasthttp.ResponseHeader) {
	header.SetCanonical([]byte(fasthttp.HeaderCacheControl), []byte(noStore))
}

// markStale says of an answer that it may be out of date, and since when; aged
// is the Cache-Status up to the seconds. Nobody may keep it.
func markStale(ctx *fasthttp.RequestCtx, aged []byte, age time.Duration) {
	seconds := strconv.FormatInt(int64(age/time.Second), 10)
	setCacheStatus(ctx, []byte(string(aged)+seconds+"; detail=stale"))
	ctx.Response.Header.Set(fasthttp.HeaderAge, seconds)
	forbid(&ctx.Response.Header)
}

// redirectLive sends a visitor to location. Only a permanent redirect may be
// kept, never beyond the link's end, and never that of a limited link: a browser
// would lead on without a use.
func redirectLive(ctx *fasthttp.RequestCtx, e *feed.Entry, location []byte, now int64) {
	header := &ctx.Response.Header
	header.SetStatusCode(int(e.Status))
	header.SetCanonical([]byte(fasthttp.HeaderLocation), location)
	header.SetCanonical([]byte(fasthttp.HeaderCacheControl), []byte(cacheControl(e, now)))
}

// cacheControl is that of an answer that leads to a link's target.
func cacheControl(e *feed.Entry, now int64) string {
	permanent := e.Status == fasthttp.StatusMovedPermanently || e.Status == fasthttp.StatusPermanentRedirect
	if permanent && !e.Limited {
		return keep(e.ExpiresAt, now)
	}
	return noStore
}

// keep is the Cache-Control of a permanent redirect; times in microseconds.
func keep(expiresAt, now int64) string {
	left := int64(keepSeconds)
	if expiresAt != 0 {
		left = min(left, (expiresAt-now)/1e6)
	}
	if left == keepSeconds {
		return "private, max-age=60"
	}
	return "private, max-age=" + strconv.FormatInt(max(left, 0), 10)
}

// redirectTo sends a visitor elsewhere for now.
func redirectTo(ctx *fasthttp.RequestCtx, location []byte) {
	ctx.Response.Header.SetStatusCode(fasthttp.StatusFound)
	ctx.Response.Header.SetCanonical([]byte(fasthttp.HeaderLocation), location)
	forbid(&ctx.Response.Header)
}

// plain answers with a status and its name as a line of text.
func plain(ctx *fasthttp.RequestCtx, status int) {
	text(ctx, status, fasthttp.StatusMessage(status)+"\n")
}

func text(ctx *fasthttp.RequestCtx, status int, body string) {
	ctx.Response.Header.SetStatusCode(status)
	forbid(&ctx.Response.Header)
	ctx.Response.Header.SetContentType(textPlain)
	ctx.Response.SetBodyString(body)
}

// notAllowed also ends the connection if the request brought a body, which
// nobody will read.
func notAllowed(ctx *fasthttp.RequestCtx) {
	plain(ctx, fasthttp.StatusMethodNotAllowed)
	ctx.Response.Header.Set(fasthttp.HeaderAllow, "GET, HEAD")
	if ctx.Request.Header.ContentLength() != 0 {
		ctx.SetConnectionClose()
	}
}

func unavailable(ctx *fasthttp.RequestCtx) {
	plain(ctx, fasthttp.StatusServiceUnavailable)
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, retrySeconds)
}

// limited answers in the form of draft-ietf-httpapi-ratelimit-headers-10.
func (h *handler) limited(ctx *fasthttp.RequestCtx, retryAfter int) {
	plain(ctx, fasthttp.StatusTooManyRequests)
	seconds := strconv.Itoa(max(retryAfter, 1))
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, seconds)
	// SetCanonical keeps the names' spelling; Set would write "Ratelimit".
	ctx.Response.Header.SetCanonical([]byte(headerRateLimitPolicy), []byte(h.LimitPolicy))
	ctx.Response.Header.SetCanonical([]byte(headerRateLimit), []byte(`"client";r=0;t=`+seconds))
}

// isFixed is for the paths that fixed answers.
func isFixed(path []byte) bool {
	switch string(path) {
	case "/", pathRobots, pathIcon:
		return true
	}
	return false
}

// fixed answers the paths that are no codes; false for all others.
func (h *handler) fixed(ctx *fasthttp.RequestCtx, path []byte, w *where) bool {
	switch string(path) {
	case "/":
		h.home(ctx, w)
	case pathRobots:
		text(ctx, fasthttp.StatusOK, "User-agent: *\nDisallow: /\n")
	case pathIcon:
		ctx.Response.Header.SetStatusCode(fasthttp.StatusNoContent)
		forbid(&ctx.Response.Header)
	default:
		return false
	}
	return true
}
