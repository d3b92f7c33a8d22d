package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"waypost/origin/internal/api"
)

const page = "https://app.example.com"

// open lets pages of these origins call the API.
func (s *server) open(origins ...string) {
	s.t.Helper()
	s.rebuild(func(c *api.Config) { c.Origins = origins })
}

// asks is what a browser sends before a page's request.
func asks(origin, method string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", method)
		r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
	}
}

// lists reports whether the header is a list with this item.
func lists(a answer, name, item string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(a.Header().Values(name), ","), ","), func(s string) bool {
		return strings.EqualFold(strings.TrimSpace(s), item)
	})
}

func TestPreflightOfAnAllowedOriginNeedsNoKey(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.open("https://other.example", page)
	for path, methods := range map[string][]string{
		"/api/v1/links": {"GET", "POST"}, "/api/v1/links/x": {"GET", "PATCH", "DELETE"}, "/api/v1/links/bulk": {"POST"},
		"/api/v1/links/x?domain=go.example.com": {"GET"}, "/api/v1/keys/x": {"PATCH", "DELETE"}, "/api/v1/openapi.json": {"GET"},
	} {
		a := s.want(204, "OPTIONS", path, "", asks(page, methods[0]))
		if got := a.Header().Get("Access-Control-Allow-Origin"); got != page {
			t.Errorf("%s: Access-Control-Allow-Origin = %q, want %q", path, got, page)
		}
		for _, method := range methods {
			if !lists(a, "Access-Control-Allow-Methods", method) {
				t.Errorf("%s: methods = %q, want %s", path, a.Header().Get("Access-Control-Allow-Methods"), method)
			}
		}
		for _, name := range []string{"Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "X-Request-Id"} {
			if !lists(a, "Access-Control-Allow-Headers", name) {
				t.Errorf("%s: headers = %q, want %s", path, a.Header().Get("Access-Control-Allow-Headers"), name)
			}
		}
		if got := a.Header().Get("Access-Control-Max-Age"); got != "600" || !lists(a, "Vary", "Origin") || a.Body.Len() > 0 {
			t.Errorf("%s: Max-Age %q, Vary %q, %d bytes", path, got, a.Header().Get("Vary"), a.Body.Len())
		}
	}
	s.want(404, "OPTIONS", "/api/v1/nothing", "", asks(page, "GET"))
}

func TestPagesOfAllowedOriginsReadAnswersAndErrors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.open(page)
	made := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "a"}`, header("Origin", page))
	for name, a := range map[string]answer{
		"created":       made,
		"not found":     s.want(404, "GET", "/api/v1/links/x", "", header("Origin", page)),
		"no route":      s.want(404, "GET", "/nothing", "", header("Origin", page)),
		"wrong method":  s.want(405, "PUT", "/api/v1/links", "", header("Origin", page)),
		"refused":       s.want(422, "POST", "/api/v1/links", `{}`, header("Origin", page)),
		"without a key": s.want(401, "GET", "/api/v1/links", "", anonymous, header("Origin", page)),
		"the document":  s.want(200, "GET", "/api/v1/openapi.json", "", header("Origin", page)),
	} {
		if got := a.Header().Get("Access-Control-Allow-Origin"); got != page || !lists(a, "Vary", "Origin") {
			t.Errorf("%s: Access-Control-Allow-Origin %q, Vary %q", name, got, a.Header().Values("Vary"))
		}
		for _, exposed := range []string{"ETag", "Location", "Waypost-Propagation", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id", "Idempotency-Replayed"} {
			if !lists(a, "Access-Control-Expose-Headers", exposed) {
				t.Errorf("%s: exposed = %q, want %s", name, a.Header().Get("Access-Control-Expose-Headers"), exposed)
			}
		}
		if a.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: credentials are allowed", name)
		}
	}
}

func TestOtherOriginsAreToldNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	wantNothing := func(what string, a answer) {
		t.Helper()
		for name := range a.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s = %q, want none", what, name, a.Header().Get(name))
			}
		}
	}
	wantNothing("nobody is allowed", s.want(200, "GET", "/api/v1/links", "", header("Origin", page)))
	wantNothing("preflight, nobody is allowed", s.want(204, "OPTIONS", "/api/v1/links", "", asks(page, "GET")))
	s.open(page)
	for _, origin := range []string{"", "null", "*", page + "/", page + ".evil.example", strings.ToUpper(page), "http://app.example.com", page + ", " + page} {
		a := s.want(200, "GET", "/api/v1/links", "", header("Origin", origin))
		wantNothing("Origin "+origin, a)
		wantNothing("preflight, Origin "+origin, s.want(204, "OPTIONS", "/api/v1/links", "", asks(origin, "GET")))
		if !lists(a, "Vary", "Origin") {
			t.Errorf("Origin %q: Vary = %q, want Origin: another page would be told something", origin, a.Header().Values("Vary"))
		}
	}
}

func TestAnyOriginIsTheSameAnswerForAll(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.open(api.AnyOrigin)
	for _, origin := range []string{page, "null", ""} {
		a := s.want(204, "OPTIONS", "/api/v1/links", "", asks(origin, "POST"))
		if got := a.Header().Get("Access-Control-Allow-Origin"); got != "*" || a.Header().Get("Access-Control-Allow-Methods") == "" || lists(a, "Vary", "Origin") {
			t.Errorf("Origin %q: %v", origin, a.Header())
		}
	}
}
