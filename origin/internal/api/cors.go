package api

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// AnyOrigin lets pages of every origin call the API.
const AnyOrigin = "*"

var errOrigin = errors.New("is not an origin as browsers send it, such as https://app.example.com or http://localhost:3000")

// CheckOrigin refuses what no browser sends as Origin (RFC 6454, 6.2): scheme and
// host in lower case, no default port, nothing behind. AnyOrigin is none.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin || u.Hostname() == "" {
		return errOrigin
	}
	port := u.Port()
	standard := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if standard == "" || port == standard || strings.HasSuffix(u.Host, ":") {
		return errOrigin
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > '~' || strings.ContainsRune(`*"<>\^{|}%`+"`", r) }) {
		return errOrigin
	}
	if strings.Contains(u.Host, "[") && net.ParseIP(u.Hostname()) == nil {
		return errOrigin
	}
	return nil
}

// cors says which pages' scripts may read answers. Keys travel in Authorization
// alone, which a page can only send if it has the key, so credentials are never
// allowed: browsers keep them to themselves.
type cors struct {
	any     bool
	origins []string
}

func newCORS(origins []string) cors {
	return cors{any: slices.Contains(origins, AnyOrigin), origins: origins}
}

// What a page's script may send, and may read of an answer, besides what every
// script may.
const (
	corsRequestHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id"
	corsAnswerHeaders  = "ETag, Location, Waypost-Propagation, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotency-Replayed"
	corsMaxAge         = "600" // seconds
)

// allow completes the header of an answer to a page that may ask.
func (c cors) allow(r *http.Request, answer http.Header) {
	if len(c.origins) == 0 {
		return
	}
	origin := r.Header.Get("Origin")
	if c.any {
		origin = AnyOrigin // for everybody the same, so that it does not vary
	} else {
		answer.Add("Vary", "Origin")
		if !slices.Contains(c.origins, origin) {
			return
		}
	}
	answer.Set("Access-Control-Allow-Origin", origin)
	answer.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
}

// preflight answers a browser that asks, before a page's request, whether it may
// make it.
func preflight(answer http.Header, methods string) {
	answer.Set("Access-Control-Allow-Methods", methods)
	answer.Set("Access-Control-Allow-Headers", corsRequestHeaders)
	answer.Set("Access-Control-Max-Age", corsMaxAge)
}
