package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"waypost/origin/internal/api"
)

// routes are the paths of the document and of the pages, each with the methods
// that it has, and a path that leads to it.
func (s *server) routes() map[string][]string {
	s.t.Helper()
	all := map[string][]string{"/": {"GET"}, "/docs": {"GET"}, "/docs/": {"GET"}, "/api/v1/openapi.json": {"GET"}}
	for path, methods := range s.document().Paths {
		at := "/api/v1" + strings.NewReplacer("{code}", "held", "{id}", strings.Split(s.admin, "_")[1], "{host}", domain).Replace(path)
		for method := range methods {
			all[at] = append(all[at], strings.ToUpper(method))
		}
	}
	// What else is at the path of an operation that a wider pattern takes in too.
	all["/api/v1/links/bulk"] = append(all["/api/v1/links/bulk"], all["/api/v1/links/held"]...)
	return all
}

// answered are the methods in the form of an Allow header.
func answered(methods []string) string {
	all := append(slices.Clone(methods), "OPTIONS")
	if slices.Contains(methods, "GET") {
		all = append(all, "HEAD")
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

func TestEveryPathTellsItsMethods(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	routes := s.routes()
	if len(routes) < 12 {
		t.Fatalf("%d routes, want all", len(routes))
	}
	client := 0
	for path, methods := range routes {
		want := answered(methods)
		client++
		from := func(r *http.Request) { r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", client) }
		for _, key := range []func(*http.Request){anonymous, bearer("no key")} {
			a := s.want(204, "OPTIONS", path, "", key, from)
			if got := a.Header().Get("Allow"); got != want || a.Body.Len() > 0 || a.Header().Get("X-Request-Id") == "" {
				t.Errorf("OPTIONS %s: Allow = %q, want %q; %d bytes", path, got, want, a.Body.Len())
			}
		}
		for _, method := range []string{"TRACE", "BREW", "PUT", "DELETE", "PATCH", "POST"} {
			if slices.Contains(methods, method) {
				continue
			}
			if got := s.want(405, method, path, "").Header().Get("Allow"); got != want {
				t.Errorf("%s %s: Allow = %q, want %q", method, path, got, want)
			}
		}
	}
	for _, path := range []string{"/nothing", "/api/v1", "/api/v1/links/", "/api/v1/links/a/b"} {
		if got := s.want(404, "OPTIONS", path, "").Header().Get("Allow"); got != "" {
			t.Errorf("OPTIONS %s: Allow = %q, want none", path, got)
		}
	}
}

// A page sends a preflight before each call that it makes with a key.
func TestPreflightsDoNotCountAsGuessesAtKeys(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	clock := time.Now() // stands still: a bucket that is empty stays so
	s.rebuild(func(c *api.Config) { c.Origins, c.Now = []string{api.AnyOrigin}, func() time.Time { return clock } })
	preflight := func(status int) answer {
		t.Helper()
		return s.want(status, "OPTIONS", "/api/v1/links", "", anonymous, header("Origin", "https://app.example"), header("Access-Control-Request-Method", "GET"))
	}
	const burst = 1000
	for range burst {
		preflight(204)
	}
	a := preflight(429)
	if a.Header().Get("Retry-After") != "1" || a.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(a.Body.String(), "OPTIONS") {
		t.Errorf("one too many: %v %s, want Retry-After, and a page to be let read why", a.Header(), a.Body)
	}
	s.want(204, "OPTIONS", "/api/v1/links", "", anonymous, func(r *http.Request) { r.RemoteAddr = "192.0.2.9:1" })
	s.want(200, "GET", "/api/v1/links", "")
	s.want(401, "GET", "/api/v1/links", "", anonymous)
	for range 100 {
		s.do("GET", "/api/v1/links", "", anonymous)
	}
	s.want(429, "GET", "/api/v1/links", "", anonymous)
	clock = clock.Add(10 * time.Millisecond) // a preflight more, and no guess
	preflight(204)
	s.want(429, "GET", "/api/v1/links", "", anonymous)
}

// HEAD is asked over a socket: it is net/http that leaves the body out.
func TestHeadIsGetWithoutItsBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "held"}`)
	for range 5 {
		s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/`+strings.Repeat("x", 500)+`"}`)
	}
	s.rebuild(func(c *api.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	web := httptest.NewServer(s.api)
	t.Cleanup(web.Close)
	client := web.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	callers := 0
	// call returns status and header; of a GET it leaves the body, which may be a stream.
	call := func(method, path, key, encoding string) (int, http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		r.Header.Set("Accept-Encoding", encoding)
		callers++
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("2001:db8:0:%x::1", callers)) // so that none is limited
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		if method == http.MethodHead {
			if body, err := io.ReadAll(resp.Body); len(body) > 0 || err != nil {
				t.Errorf("HEAD %s: %d bytes of a body, %v", path, len(body), err)
			}
		}
		return resp.StatusCode, resp.Header
	}
	for path, methods := range s.routes() {
		if !slices.Contains(methods, "GET") {
			continue
		}
		for _, encoding := range []string{"identity", "gzip"} {
			for _, key := range []string{s.admin, ""} {
				status, want := call(http.MethodGet, path, key, encoding)
				got, head := call(http.MethodHead, path, key, encoding)
				if got != status {
					t.Errorf("%s: HEAD %d, GET %d", path, got, status)
				}
				stream := strings.HasPrefix(want.Get("Content-Type"), "text/event-stream")
				if want.Get("Content-Length") == "" && !stream {
					t.Errorf("GET %s: no Content-Length", path)
				}
				differ := []string{"X-Request-Id", "Date"}
				if path == "/docs" && encoding == "gzip" { // no two of them are the same
					differ = append(differ, "Content-Length")
				}
				for _, name := range differ {
					want.Del(name)
					head.Del(name)
				}
				if !sameHeader(head, want) {
					t.Errorf("%s with %s, key %v: HEAD %v, GET %v", path, encoding, key != "", head, want)
				}
			}
		}
	}
}

func sameHeader(a, b http.Header) bool {
	same := len(a) == len(b)
	for name := range a {
		same = same && slices.Equal(a[name], b[name])
	}
	return same
}
