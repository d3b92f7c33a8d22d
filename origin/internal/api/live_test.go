package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

// event is one of a stream.
type event struct {
	name string
	data map[string]any
}

// listening is a client of a live view.
type listening struct {
	t     *testing.T
	resp  *http.Response
	lines *bufio.Scanner
	leave func()
}

// socket serves the API by HTTP. A request or an answer may take as long as the
// limit; 0: for ever.
func (s *server) socket(limit time.Duration) string {
	s.t.Helper()
	h := httptest.NewUnstartedServer(s.api)
	h.Config.ReadTimeout, h.Config.WriteTimeout = limit, limit
	h.Start()
	s.t.Cleanup(h.Close)
	return h.URL
}

// watch opens a live view.
func (s *server) watch(base, code, key string) *listening {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	r, err := http.NewRequestWithContext(ctx, "GET", base+"/api/v1/links/"+code+"/live", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatalf("live: %v", err)
	}
	leave := func() {
		cancel()
		_ = resp.Body.Close() // nothing more is read
	}
	s.t.Cleanup(leave)
	return &listening{t: s.t, resp: resp, lines: bufio.NewScanner(resp.Body), leave: leave}
}

// next is the next event; false: the stream has ended.
func (l *listening) next() (event, bool) {
	l.t.Helper()
	var e event
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				l.t.Fatalf("data %q: %v", value, err)
			}
		case "":
			return e, true
		default:
			l.t.Fatalf("line %q", l.lines.Text())
		}
	}
	return event{}, false
}

// until is the events up to the first of which the condition holds.
func (l *listening) until(what string, holds func(event) bool) []event {
	l.t.Helper()
	var all []event
	for {
		e, ok := l.next()
		if !ok {
			l.t.Fatalf("the stream ended before %s: %v", what, l.lines.Err())
		}
		if all = append(all, e); holds(e) {
			return all
		}
	}
}

func (l *listening) ended() {
	l.t.Helper()
	for {
		if _, ok := l.next(); !ok {
			if err := l.lines.Err(); err != nil {
				l.t.Errorf("the stream broke off: %v", err)
			}
			return
		}
	}
}

func isTick(e event) bool { return e.name == "clicks" }

func TestALiveViewShowsClicksAsTheyAreApplied(t *testing.T) {
	t.Parallel()
	const limit = 5 * time.Second // of the server, for other answers
	s := newServer(t)
	id, other := s.link("seen", "ann"), s.link("other", "ann")
	live := s.watch(s.socket(limit), "seen", s.key("ann", "stats:read"))
	if got := live.resp.Header.Get("Content-Type"); live.resp.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("status %d, Content-Type %q", live.resp.StatusCode, got)
	}
	first := live.until("a heartbeat", isTick)
	if d := first[0].data; len(first) != 1 || d["total"] != 0.0 || d["human"] != 0.0 || d["bot"] != 0.0 {
		t.Errorf("first events = %v, want one of zeros", first)
	}
	if _, err := time.Parse(time.RFC3339Nano, first[0].data["at"].(string)); err != nil {
		t.Errorf("at: %v", err)
	}

	stretch := &click.Stretch{Links: []click.LinkClicks{
		{Link: id, Hours: []click.Hour{{Clicks: 5, Bots: 2}}, Newest: []click.Recent{
			{At: 2_000_001, Region: "eu", Referrer: "a.example", Device: "mobile", Browser: "chrome", OS: "ios", Country: "DE"}, {At: 1_000_000, Bot: true},
		}},
		{Link: other, Hours: []click.Hour{{Clicks: 100}}, Newest: []click.Recent{{At: 9}}},
	}}
	if id > other {
		stretch.Links[0], stretch.Links[1] = stretch.Links[1], stretch.Links[0]
	}
	s.views.TakeStretch(stretch)
	seen := live.until("the clicks", func(e event) bool { return isTick(e) && e.data["total"] != 0.0 })
	for isTick(seen[0]) && len(seen) > 1 {
		seen = seen[1:] // heartbeats before
	}
	if len(seen) != 3 || seen[0].name != "click" || seen[1].name != "click" {
		t.Fatalf("events = %v, want two clicks and their sum", seen)
	}
	if d := seen[0].data; d["at"] != "1970-01-01T00:00:01Z" || d["bot"] != true {
		t.Errorf("first click = %v, want the older one", d)
	}
	want := map[string]any{
		"at": "1970-01-01T00:00:02.000001Z", "region": "eu", "referrer": "a.example", "device": "mobile",
		"browser": "chrome", "os": "ios", "country": "DE", "bot": false,
	}
	sameJSON(t, "second click", seen[1].data, want)
	if d := seen[2].data; d["total"] != 5.0 || d["human"] != 3.0 || d["bot"] != 2.0 {
		t.Errorf("sum = %v, want 5, 3 and 2", d)
	}
	// Nothing is shown twice, and the stream outlives the server's limits.
	for range limit/time.Second + 1 {
		if next := live.until("a heartbeat", isTick); len(next) != 1 || next[0].data["total"] != 0.0 {
			t.Errorf("next events = %v, want a heartbeat", next)
		}
	}
}

func TestLiveViewsAreForThoseWhoMaySeeTheLink(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("hers", "ann")
	const path = "/api/v1/links/hers/live"
	s.want(401, "GET", path, "", anonymous)
	s.want(403, "GET", path, "", bearer(s.key("", "links:read", "links:write")))
	s.want(404, "GET", path, "", bearer(s.key("bob", "stats:read")))
	s.want(404, "GET", "/api/v1/links/none/live", "")
	s.want(404, "GET", path+"?domain="+domain, "")
	if n := s.views.Len(); n != 0 {
		t.Errorf("%d views are open, want none", n)
	}
	if a := s.do("HEAD", path, ""); a.Code != 200 || a.Body.Len() != 0 || s.views.Len() != 0 {
		t.Errorf("HEAD: %d with %d bytes and %d views left, want 200 and nothing", a.Code, a.Body.Len(), s.views.Len())
	}
}

func TestTheHundredAndFirstLiveViewIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("seen", "")
	base := s.socket(0)
	var all []*listening
	for range clicks.MaxViews / clicks.MaxViewsEach {
		key := s.key("", "stats:read")
		for range clicks.MaxViewsEach {
			l := s.watch(base, "seen", key)
			if l.resp.StatusCode != 200 {
				t.Fatalf("view %d: status %d", len(all)+1, l.resp.StatusCode)
			}
			all = append(all, l)
		}
	}
	refused := s.watch(base, "seen", s.admin)
	body, _ := io.ReadAll(refused.resp.Body)
	if refused.resp.StatusCode != 429 || refused.resp.Header.Get("Retry-After") == "" || !strings.Contains(string(body), `"status":429`) {
		t.Errorf("view 101: %d, Retry-After %q, %s", refused.resp.StatusCode, refused.resp.Header.Get("Retry-After"), body)
	}
	// Views take no places of other requests, and a client that goes away makes room.
	s.await("no request in flight", func() bool { return s.api.InFlight() == 0 })
	all[0].leave()
	s.await("room for another view", func() bool { return s.views.Len() < 100 })
	if l := s.watch(base, "seen", s.admin); l.resp.StatusCode != 200 {
		t.Errorf("a view after one has gone: status %d", l.resp.StatusCode)
	}
}

func TestNoKeyHoldsAllLiveViews(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("hers", "ann")
	base := s.socket(0)
	keys := []string{s.key("ann", "stats:read"), s.key("ann", "stats:read")}
	for n := range clicks.MaxViewsEach {
		if l := s.watch(base, "hers", keys[n%2]); l.resp.StatusCode != 200 {
			t.Fatalf("view %d: status %d", n+1, l.resp.StatusCode)
		}
	}
	refused := s.watch(base, "hers", keys[0])
	body, _ := io.ReadAll(refused.resp.Body)
	if refused.resp.StatusCode != 429 || refused.resp.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "owner") {
		t.Errorf("one more of an owner: %d, Retry-After %q, %s", refused.resp.StatusCode, refused.resp.Header.Get("Retry-After"), body)
	}
	if l := s.watch(base, "hers", s.admin); l.resp.StatusCode != 200 {
		t.Errorf("a view of another key: status %d", l.resp.StatusCode)
	}
}

func TestALiveViewEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *server, key string){
		"when its link is deleted":           func(s *server, _ string) { s.want(204, "DELETE", "/api/v1/links/seen", "") },
		"when its link is another's":         func(s *server, _ string) { s.want(200, "PATCH", "/api/v1/links/seen", `{"owner": "bob"}`) },
		"when its key is revoked":            func(s *server, key string) { s.want(204, "DELETE", "/api/v1/keys/"+strings.Split(key, "_")[1], "") },
		"when its origin begins to end":      func(s *server, _ string) { s.endViews() },
		"when its code is of another's link": recreate,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.link("seen", "ann")
			key := s.key("ann", "stats:read")
			live := s.watch(s.socket(0), "seen", key)
			live.until("a heartbeat", isTick)
			end(s, key)
			live.ended()
			s.await("the view to be closed", func() bool { return s.views.Len() == 0 })
		})
	}
}

// recreate deletes the link and makes another one of the same code.
func recreate(s *server, _ string) {
	s.want(204, "DELETE", "/api/v1/links/seen", "")
	s.link("seen", "ann")
}

func TestNoLiveViewIsOpenedWhileTheOriginEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("seen", "")
	s.endViews()
	if a := s.want(503, "GET", "/api/v1/links/seen/live", ""); a.Header().Get("Retry-After") != "1" {
		t.Errorf("Retry-After = %q, want 1", a.Header().Get("Retry-After"))
	}
}

// pipes is a listener whose connections hold nothing back: what is not read is
// not written.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestAClientThatStopsReadingIsDropped(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("seen", "")
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	h := http.Server{Handler: s.api, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	t.Cleanup(func() {
		_ = h.Close() // no request is waited for
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	client, conn := net.Pipe()
	defer client.Close() //nolint:errcheck // nothing is lost
	listener.conns <- conn
	if _, err := io.WriteString(client, "GET /api/v1/links/seen/live HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "+s.admin+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(client)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "event: ") {
	}
	if s.views.Len() != 1 {
		t.Fatalf("%d views are open, want one: %q", s.views.Len(), lines.Text())
	}
	s.await("the view to be closed", func() bool { return s.views.Len() == 0 })
}
