package api_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/deploy/services"
	"waypost/origin/internal/api"
	"waypost/origin/internal/links"
)

func TestBodiesThatAreNoJSONObject(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"empty", "", 400},
		{"cut short", `{"target": "https://exa`, 400},
		{"trailing garbage", `{"target": "https://example.com/"} x`, 400},
		{"two objects", `{"target": "https://example.com/"}{}`, 400},
		{"trailing comma", `{"target": "https://example.com/",}`, 400},
		{"comment", `{} // x`, 400},
		{"byte order mark", "\ufeff{}", 400},
		{"invalid UTF-8", "{\"title\": \"\xff\"}", 400},
		{"control character", "{\"title\": \"\x01\"}", 400},
		{"NUL", "\x00", 400},
		{"NaN", `{"status": NaN}`, 400},
		{"too deep", strings.Repeat(`{"a":`, 20000), 400},
		{"deep and closed", strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000), 400},
		{"a list", `[]`, 422},
		{"a string", `"x"`, 422},
		{"null", `null`, 422},
		{"a form", `target=https://example.com/`, 400},
	} {
		for _, call := range [][2]string{{"POST", "/api/v1/links"}, {"PATCH", "/api/v1/links/x"}, {"POST", "/api/v1/links/bulk"}, {"POST", "/api/v1/keys"}} {
			if a := s.do(call[0], call[1], c.body, header("Content-Type", "application/json")); a.Code != c.want {
				t.Errorf("%s: %s %s: status %d, want %d: %s", c.name, call[0], call[1], a.Code, c.want, a.Body)
			}
		}
	}
}

func TestBodySizes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	const link, bulk = `{"target": "https://example.com/"}`, `{"items": [{"target": "https://example.com/"}]}`
	s.want(201, "POST", "/api/v1/links", padded(link, 1<<20))
	s.want(413, "POST", "/api/v1/links", padded(link, 1<<20+1))
	s.want(413, "PATCH", "/api/v1/links/x", padded(link, 1<<20+1))
	s.want(200, "POST", "/api/v1/links/bulk", padded(bulk, 8<<20))
	s.want(413, "POST", "/api/v1/links/bulk", padded(bulk, 8<<20+1))
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "m"}`)
	for _, c := range []struct {
		method, media string
		accepted      bool
	}{
		{"POST", "application/json", true},
		{"POST", "Application/JSON; charset=UTF-8", true},
		{"POST", "", true},
		{"POST", "application/json; charset=latin1", false},
		{"POST", "application/merge-patch+json", false},
		{"POST", "application/x-www-form-urlencoded", false},
		{"POST", "text/plain", false},
		{"POST", "multipart/form-data; boundary=x", false},
		{"POST", ";;;", false},
		{"PATCH", "application/json", true},
		{"PATCH", "application/merge-patch+json", true},
		{"PATCH", "application/json-patch+json", false},
	} {
		want := 415
		path := "/api/v1/links"
		switch {
		case c.method == "PATCH":
			path += "/m"
			if c.accepted {
				want = 200
			}
		case c.accepted:
			want = 201
		}
		s.want(want, c.method, path, `{"target": "https://example.com/"}`, header("Content-Type", c.media))
	}
	s.want(415, "POST", "/api/v1/links", `{}`, header("Content-Encoding", "gzip"))
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/"}`, header("Accept", "text/html"))
}

func TestPathsAndMethodsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, path := range []string{
		"/api", "/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/links/", "/api/v1//links", "/api/v1/./links", "/api/v1/links/x/y",
		"/api/v1/links/..", "/docs/x", "/doc", "/api/v1/openapi.yaml",
	} {
		s.want(404, "GET", path, "")
	}
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", "/api/v1/links", "GET, HEAD, OPTIONS, POST"},
		{"POST", "/api/v1/links/x", "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"DELETE", "/api/v1/openapi.json", "GET, HEAD, OPTIONS"},
		{"POST", "/docs", "GET, HEAD, OPTIONS"},
		{"BREW", "/api/v1/keys", "GET, HEAD, OPTIONS, POST"},
	} {
		a := s.want(405, c.method, c.path, "")
		if got := a.Header().Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow = %q, want %q", c.method, c.path, got, c.allow)
		}
	}
}

func TestRootLeadsToTheDocs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for path, want := range map[string]int{"/": 303, "/docs/": 308, "/?x": 303} {
		if got := s.want(want, "GET", path, "", anonymous).Header().Get("Location"); got != "/docs" {
			t.Errorf("%s: Location = %q, want /docs", path, got)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.want(404, "GET", "/api/v1/links/x", "", header("X-Request-Id", "mine-1"))
	if got := a.Header().Get("X-Request-Id"); got != "mine-1" {
		t.Errorf("X-Request-Id = %q, want the client's", got)
	}
	a = s.want(404, "GET", "/api/v1/links/x", "", header("X-Request-Id", "not\nfit"))
	if got := a.Header().Get("X-Request-Id"); got == "" || strings.Contains(got, "\n") {
		t.Errorf("X-Request-Id = %q, want one of our own", got)
	}
}

func TestEveryAnswerHasARequestID(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id, fit := strings.Repeat("aZ0._-", 11)[:64], header("X-Request-Id", strings.Repeat("aZ0._-", 11)[:64])
	for _, c := range []struct {
		status             int
		method, path, body string
		option             func(*http.Request)
	}{
		{200, "GET", "/api/v1/links", "", fit},
		{201, "POST", "/api/v1/links", `{"target": "https://example.com/"}`, fit},
		{204, "OPTIONS", "/api/v1/links", "", fit},
		{303, "GET", "/", "", fit},
		{400, "POST", "/api/v1/links", `{`, fit},
		{401, "GET", "/api/v1/links", "", func(r *http.Request) { anonymous(r); fit(r) }},
		{404, "GET", "/nothing", "", fit},
		{404, "GET", "/api/v1//links", "", fit},
		{405, "PUT", "/api/v1/links", "", fit},
		{413, "POST", "/api/v1/links", strings.Repeat(" ", 1<<20+1), fit},
		{415, "POST", "/api/v1/links", `{}`, func(r *http.Request) { fit(r); r.Header.Set("Content-Type", "text/plain") }},
	} {
		if got := s.want(c.status, c.method, c.path, c.body, c.option).Header().Get("X-Request-Id"); got != id {
			t.Errorf("%s %s: X-Request-Id = %q, want the client's", c.method, c.path, got)
		}
	}
	seen := make(map[string]bool)
	for _, unfit := range []string{"", id + "x", "a b", "a,b", "ä", "a\x00", "a\r\nX-Evil: 1", "<a>"} {
		got := s.want(200, "GET", "/api/v1/links", "", header("X-Request-Id", unfit)).Header().Values("X-Request-Id")
		if len(got) != 1 || len(got[0]) != 16 || seen[got[0]] {
			t.Errorf("%q: X-Request-Id = %q, want a new one", unfit, got)
			continue
		}
		seen[got[0]] = true
	}
}

// broken is a body whose connection breaks.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestUploadThatBreaksIsNoFaultOfOurs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.do("POST", "/api/v1/links", "", header("Content-Type", "application/json"),
		func(r *http.Request) { r.Body = io.NopCloser(broken{}) })
	if a.Code != 400 {
		t.Errorf("status %d, want 400: %s", a.Code, a.Body)
	}
}

func TestStoreAwayIs503(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := serverOn(t, pg.URL())
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatalf("Stop: %v", err)
	}
	for _, call := range [][2]string{{"GET", "/api/v1/links"}, {"GET", "/api/v1/links/x"}, {"POST", "/api/v1/links"}, {"GET", "/api/v1/keys"}} {
		a := s.want(503, call[0], call[1], map[bool]string{true: `{"target": "https://example.com/"}`}[call[0] == "POST"])
		if a.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", call[0], call[1])
		}
		if strings.Contains(a.Body.String(), "postgres") {
			t.Errorf("%s %s: internals in the answer: %s", call[0], call[1], a.Body)
		}
	}
	s.want(401, "GET", "/api/v1/links", "", anonymous)
	s.want(200, "GET", "/api/v1/openapi.json", "")
}

func TestPanicIsOneLineAndA500(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a, err := api.New(api.Config{
		Links: links.New(links.Deps{}), Keys: s.keys, Logger: s.logger(), Metrics: prometheus.NewRegistry(), Public: s.public(), Now: s.now,
	})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	r := httptest.NewRequest("GET", "/api/v1/links/x", nil)
	r.Header.Set("Authorization", "Bearer "+s.admin)
	r.Header.Set("X-Request-Id", "the-id")
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code != 500 || strings.Contains(w.Body.String(), "nil pointer") || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("answer = %d %s, want a 500 without internals", w.Code, w.Body)
	}
	if got := s.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "the-id") || !strings.Contains(got, "nil pointer") {
		t.Errorf("log = %q, want one line with id and cause", got)
	}
}
