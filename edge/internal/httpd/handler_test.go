package httpd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"waypost/edge/internal/l1"
	"waypost/edge/internal/redirect"
	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

const second = int64(1e6) // a test's "now" counts microseconds

const now = 1000 * second

// stage is a handler whose parts a test sets.
type stage struct {
	*handler
	log     bytes.Buffer
	entries map[link.Key]*feed.Entry
	err     error // of every lookup
	tier    redirect.Tier
	asked   []link.Key
	refuse  int // Retry-After of every request, if not 0
	mark    redirect.Marking
	lease   feed.Instant
	age     time.Duration
	leaving bool
	untold  bool   // PostgreSQL's clock is not known
	seq     uint64 // of the last config
}

func newStage(tb testing.TB) *stage {
	tb.Helper()
	s := &stage{entries: make(map[link.Key]*feed.Entry), tier: redirect.L1}
	settings, err := feed.ParseConfig([]byte(`{"epoch":1,"rows":{"domain/go.example":"{\"host\":\"go.example\"}"}}`))
	if err != nil {
		tb.Fatal(err)
	}
	s.handler = newHandler(Config{
		Region: "eu",
		Resolve: func(_ context.Context, domain string, code []byte, hash uint64) (redirect.Answer, error) {
			key := link.Key{Domain: domain, Code: string(code)}
			s.asked = append(s.asked, key)
			if hash != key.Hash() {
				tb.Errorf("key %q: got hash %x, want %x", key, hash, key.Hash())
			}
			if s.err != nil {
				return redirect.Answer{}, s.err
			}
			e := s.entries[key]
			if e == nil {
				e = &feed.Entry{Key: key}
			}
			return redirect.Answer{Entry: e, Tier: s.tier, Lease: s.lease}, nil
		},
		Settings:    func() *feed.Config { return settings },
		Mark:        func(redirect.Answer, feed.Instant) (redirect.Marking, time.Duration) { return s.mark, s.age },
		Served:      func(*feed.Entry, feed.Instant) {},
		ConfigLease: func() feed.Instant { return 1 },
		Clock:       func() (feed.Instant, int64) { return 1, now },
		Told:        func() bool { return !s.untold },
		Client:      func(peer netip.Addr, _ [][]byte) netip.Addr { return peer },
		Admit: func(context.Context, netip.Addr) (int, bool) {
			return s.refuse, s.refuse == 0
		},
		LimitPolicy: `"client";q=100;w=2`,
		Metrics:     NewMetrics(prometheus.NewRegistry()),
		Logger:      slog.New(slog.NewJSONHandler(&s.log, nil)),
	}, context.Background(), func() bool { return s.leaving })
	return s
}

func (s *stage) put(body feed.Body) {
	if body.Status == 0 {
		body.Status = 302
	}
	key := link.Key{Code: "abc"}
	s.entries[key] = &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: body}
}

// get sends one request, as "METHOD target" with header lines "Name: value".
func (s *stage) get(tb testing.TB, request string, header ...string) *fasthttp.Response {
	tb.Helper()
	var ctx fasthttp.RequestCtx
	var req fasthttp.Request
	method, uri, _ := strings.Cut(request, " ")
	req.Header.SetMethod(method)
	req.SetRequestURI(uri)
	req.Header.SetHost("short.example")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	ctx.Init(&req, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}, nil)
	s.serve(&ctx)
	var resp fasthttp.Response
	ctx.Response.CopyTo(&resp)
	return &resp
}

func (s *stage) want(t *testing.T, resp *fasthttp.Response, status int, header ...string) {
	t.Helper()
	if resp.StatusCode() != status {
		t.Errorf("got status %d, want %d", resp.StatusCode(), status)
	}
	for _, line := range header {
		name, want, _ := strings.Cut(line, ": ")
		if got := string(resp.Header.Peek(name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if string(resp.Header.Peek("Location")) != "" && status/100 != 3 {
		t.Errorf("a %d answer has a Location", status)
	}
}

func TestVerdictsBecomeStatuses(t *testing.T) {
	t.Parallel()
	const target = "https://example.com/a?b#c"
	enabled := feed.Body{State: feed.Enabled, Target: target}
	with := func(change func(*feed.Body)) feed.Body {
		b := enabled
		change(&b)
		return b
	}
	for _, c := range []struct {
		name   string
		body   feed.Body
		status int
		header []string
	}{
		{"live", enabled, 302, []string{"Location: " + target, "Cache-Control: no-store"}},
		{"307", with(func(b *feed.Body) { b.Status = 307 }), 307, []string{"Location: " + target, "Cache-Control: no-store"}},
		{"301", with(func(b *feed.Body) { b.Status = 301 }), 301, []string{"Cache-Control: private, max-age=60"}},
		{"308 that ends soon", with(func(b *feed.Body) { b.Status, b.ExpiresAt = 308, now+7*second+1 }), 308, []string{"Cache-Control: private, max-age=7"}},
		{"308 that ends within a second", with(func(b *feed.Body) { b.Status, b.ExpiresAt = 308, now+1 }), 308, []string{"Cache-Control: private, max-age=0"}},
		{"301 that ends later", with(func(b *feed.Body) { b.Status, b.ExpiresAt = 301, now+3600*second }), 301, []string{"Cache-Control: private, max-age=60"}},
		{"absent", feed.Body{}, 404, []string{"Cache-Control: no-store"}},
		{"not yet", with(func(b *feed.Body) { b.StartsAt = now + 1 }), 404, []string{"Cache-Control: no-store"}},
		{"disabled", with(func(b *feed.Body) { b.State = feed.Disabled }), 410, []string{"Cache-Control: no-store"}},
		{"expired", with(func(b *feed.Body) { b.ExpiresAt = now }), 410, []string{"Cache-Control: no-store"}},
		{"expired 301 to a page", with(func(b *feed.Body) { b.Status, b.ExpiresAt, b.ExpiredURL = 301, now, "https://example.com/over" }), 302, []string{"Location: https://example.com/over", "Cache-Control: no-store"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{"GET", "HEAD"} {
				s := newStage(t)
				s.put(c.body)
				resp := s.get(t, method+" /abc")
				s.want(t, resp, c.status, c.header...)
				s.want(t, resp, c.status, "Cache-Status: waypost-eu; hit; detail=l1")
				if method == "HEAD" && len(resp.Body()) == 0 && !strings.Contains(resp.Header.String(), "Content-Length: 0\r\n") {
					t.Errorf("HEAD: got no Content-Length: %q", resp.Header.String())
				}
				if c.status/100 == 3 && len(resp.Body()) != 0 {
					t.Errorf("%s: a redirect has a body: %q", method, resp.Body())
				}
			}
		})
	}
}

func TestEveryPathHasAnAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request string
		status  int
		asked   string // the key that was looked up, "" for none
	}{
		{"GET /abc", 302, "abc"},
		{"GET /abc/", 302, "abc"},
		{"GET /abc?", 302, "abc"},
		{"GET /%61bc", 302, "abc"},
		{"GET /abc?q=" + strings.Repeat("x", maxQuery-2), 302, "abc"},
		{"GET /abc?q=" + strings.Repeat("x", maxQuery), 431, ""},
		{"GET /abc/more", 404, "abc"},
		{"GET /ABC", 404, "ABC"},
		{"GET /%zz", 400, ""},
		{"GET /%00", 404, ""},
		{"GET /a b", 404, ""},
		{"GET /../../etc/passwd", 404, ""},
		{"GET /" + strings.Repeat("a", 65), 404, ""},
		{"GET /" + strings.Repeat("a", maxPath), 414, ""},
		{"GET //", 404, ""},
		{"GET /", 200, ""},
		{"GET /?a=b", 200, ""},
		{"GET /robots.txt", 200, ""},
		{"HEAD /favicon.ico", 204, ""},
		{"POST /abc", 405, ""},
		{"PUT /nosuch", 405, ""},
		{"OPTIONS /", 405, ""},
		{"BREW /abc", 405, ""},
		{"GET http://GO.example:8080/abc", 404, "go.example/abc"},
		{"GET http://other.example/abc?x", 302, "abc"},
		{"GET http://other.example", 200, ""},
		{"GET ftp://other.example/abc", 400, ""},
		{"GET *", 400, ""},
	} {
		t.Run(c.request[:min(len(c.request), 40)], func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.put(feed.Body{State: feed.Enabled, Target: "https://example.com/"})
			resp := s.get(t, c.request)
			s.want(t, resp, c.status, "Cache-Control: no-store")
			asked := ""
			if len(s.asked) > 0 {
				asked = s.asked[0].String()
			}
			if asked != c.asked {
				t.Errorf("looked up %q, want %q", asked, c.asked)
			}
			if c.status == 405 {
				s.want(t, resp, 405, "Allow: GET, HEAD")
			}
			if got := len(resp.Header.Peek("Cache-Status")) > 0; got != (c.asked != "") {
				t.Errorf("has a Cache-Status: got %v, want %v", got, c.asked != "")
			}
		})
	}
}

func TestTheHostChoosesTheDomain(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"go.example": "go.example/abc", "GO.Example.:8080": "go.example/abc", "go.example:80": "go.example/abc",
		"other.example": "abc", "": "abc", "[::1]:8080": "abc", strings.Repeat("a.", 500): "abc",
	} {
		s := newStage(t)
		s.get(t, "GET /abc", "Host: "+host)
		if len(s.asked) != 1 || s.asked[0].String() != want {
			t.Errorf("host %q: looked up %v, want %s", host, s.asked, want)
		}
	}
}

func TestTheTierIsNamed(t *testing.T) {
	t.Parallel()
	for tier, want := range map[redirect.Tier]string{
		redirect.L1:     "waypost-eu; hit; detail=l1",
		redirect.L2:     "waypost-eu; hit; detail=l2",
		redirect.Filter: "waypost-eu; hit; detail=filter",
		redirect.Origin: "waypost-eu; fwd=miss; detail=origin",
	} {
		s := newStage(t)
		s.tier = tier
		s.want(t, s.get(t, "GET /abc"), 404, "Cache-Status: "+want)
	}
	s := newStage(t)
	if got := string(s.status.of(&redirect.Answer{Tier: redirect.Origin, Refused: true})); got != "waypost-eu; fwd=stale; detail=origin" {
		t.Errorf("a refused entry: got %q", got)
	}
}

func TestWithoutAnAnswerIs503NotA404(t *testing.T) {
	t.Parallel()
	for _, err := range []error{link.ErrUnavailable, redirect.ErrUnready, errors.Join(errors.New("x"), link.ErrUnavailable)} {
		s := newStage(t)
		s.err = err
		s.want(t, s.get(t, "GET /abc"), 503, "Retry-After: 1", "Cache-Control: no-store")
	}
}

func TestWithoutAConfigThereIsOnlyTheDefaultDomain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Settings = func() *feed.Config { return nil }
	s.get(t, "GET /abc", "Host: go.example")
	if len(s.asked) != 1 || s.asked[0].Domain != "" {
		t.Errorf("looked up %v, want the default domain", s.asked)
	}
}

func TestAMarkedAnswerSaysHowOldItMayBe(t *testing.T) {
	t.Parallel()
	for _, body := range []feed.Body{
		{State: feed.Enabled, Status: 302, Target: "https://example.com/"},
		{State: feed.Enabled, Status: 301, Target: "https://example.com/"},
		{State: feed.Disabled, Target: "https://example.com/"},
	} {
		s := newStage(t)
		s.put(body)
		s.mark, s.age = redirect.Marked, 12*time.Second+900*time.Millisecond
		resp := s.get(t, "GET /abc")
		s.want(t, resp, resp.StatusCode(), "Cache-Status: waypost-eu; hit; ttl=-12; detail=stale", "Age: 12", "Cache-Control: no-store")
		if got := resp.StatusCode() / 100; got == 5 {
			t.Errorf("got status %d", resp.StatusCode())
		}
	}
}

func TestAnAnswerIsJudgedByTheConfigsLeaseToo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(feed.Body{State: feed.Enabled, Target: "https://example.com/"})
	s.lease = 9
	var order []string
	s.ConfigLease = func() feed.Instant {
		order = append(order, "lease")
		return 5
	}
	settings := s.Settings
	s.Settings = func() *feed.Config {
		order = append(order, "settings")
		return settings()
	}
	s.Mark = func(a redirect.Answer, _ feed.Instant) (redirect.Marking, time.Duration) {
		if a.Lease != 5 {
			t.Errorf("judged by the lease of %d, want that of 5", a.Lease)
		}
		return redirect.Unmarked, 0
	}
	s.want(t, s.get(t, "GET /abc"), 302)
	if got := strings.Join(order, " "); got != "lease settings" {
		t.Errorf("loaded %q, want the lease before the settings", got)
	}
}

func TestAWithheldAnswerIs503(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(feed.Body{State: feed.Enabled, Target: "https://example.com/"})
	s.mark = redirect.Withheld
	s.want(t, s.get(t, "GET /abc"), 503, "Retry-After: 1", "Cache-Control: no-store", "Cache-Status: waypost-eu; fwd=miss", "Location: ")
}

// An edge that was started while no origin answers has this machine's clock
// alone, by which no link may end or not have begun.
func TestWhatBeginsOrEndsIsWithheldUntilTheClockIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body feed.Body
		want int
	}{
		"begins later": {feed.Body{State: feed.Enabled, StartsAt: now + 1}, 503},
		"has begun":    {feed.Body{State: feed.Enabled, StartsAt: now}, 503},
		"ends later":   {feed.Body{State: feed.Enabled, ExpiresAt: now + 1}, 503},
		"has ended":    {feed.Body{State: feed.Enabled, ExpiresAt: now}, 503},
		"moved":        {feed.Body{State: feed.Enabled, ExpiresAt: now, ExpiredURL: "https://example.com/over"}, 503},
		"always":       {feed.Body{State: feed.Enabled}, 302},
		"disabled":     {feed.Body{State: feed.Disabled, ExpiresAt: now + 1}, 410},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			c.body.Target = "https://example.com/"
			s.put(c.body)
			s.mark, s.untold = redirect.Marked, true
			s.want(t, s.get(t, "GET /abc"), c.want)
		})
	}
}

func TestLimitedSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.refuse = 3
	s.want(t, s.get(t, "GET /abc"), 429, "Retry-After: 3", "Cache-Control: no-store")
	resp := s.get(t, "GET /abc").Header.String()
	for _, line := range []string{"RateLimit-Policy: \"client\";q=100;w=2\r\n", "RateLimit: \"client\";r=0;t=3\r\n"} {
		if !strings.Contains(resp, line) {
			t.Errorf("got %q, want a line %q", resp, line)
		}
	}
	if len(s.asked) != 0 {
		t.Error("a limited request was looked up")
	}
}

func TestAPanicIsThatRequests500(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	resolve := s.Resolve
	s.Resolve = func(context.Context, string, []byte, uint64) (redirect.Answer, error) { panic("boom") }
	resp := s.get(t, "GET /abc", "X-Request-Id: id-7")
	s.want(t, resp, 500, "X-Request-Id: id-7", "Cache-Control: no-store")
	if got := strings.Count(s.log.String(), "\n"); got != 1 || !strings.Contains(s.log.String(), `"request_id":"id-7"`) {
		t.Errorf("got %d log lines: %s", got, s.log.String())
	}
	s.Resolve = resolve
	s.want(t, s.get(t, "GET /abc"), 404)
}

func TestPreviewShowsTheTargetEscaped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(feed.Body{State: feed.Enabled, Target: "https://example.com/?a=1&y='onload=alert(1)", CreatedAt: 1_700_000_000 * second})
	resp := s.get(t, "GET /abc+")
	s.want(t, resp, 200, "Content-Type: text/html; charset=utf-8", "Cache-Control: no-store")
	body := string(resp.Body())
	for _, part := range []string{"a=1&amp;y=", "2023-11-14T22:13:20Z", ">abc"} {
		if !strings.Contains(body, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(body, "y='onload") {
		t.Error("the page has the target unescaped")
	}
	for _, body := range []feed.Body{
		{State: feed.Disabled, Target: "https://example.com/"},
		{State: feed.Enabled, Target: "https://example.com/", ExpiresAt: now, ExpiredURL: "https://example.com/over"},
	} {
		s.put(body)
		s.want(t, s.get(t, "GET /abc+"), 410)
	}
}

func TestAPathBehindACodeIsNoneWhateverBecameOfTheLink(t *testing.T) {
	t.Parallel()
	for _, body := range []feed.Body{
		{State: feed.Enabled, Target: "https://example.com/"},
		{State: feed.Disabled, Target: "https://example.com/"},
		{State: feed.Enabled, Target: "https://example.com/", ExpiresAt: now, ExpiredURL: "https://example.com/over"},
	} {
		s := newStage(t)
		s.put(body)
		s.want(t, s.get(t, "GET /abc/more"), 404)
	}
}

func TestALeavingEdgeClosesConnections(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if s.get(t, "GET /abc").ConnectionClose() {
		t.Error("an edge that stays closes the connection")
	}
	s.leaving = true
	if !s.get(t, "GET /abc").ConnectionClose() {
		t.Error("an edge that leaves keeps the connection")
	}
}

func TestForwardedHeadersReachTheClientRule(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var lines []string
	s.Client = func(peer netip.Addr, forwardedFor [][]byte) netip.Addr {
		for _, line := range forwardedFor {
			lines = append(lines, string(line))
		}
		return peer
	}
	var got netip.Addr
	s.Admit = func(_ context.Context, client netip.Addr) (int, bool) {
		got = client
		return 0, true
	}
	s.get(t, "GET /abc", "x-forwarded-for: 10.0.0.1, 10.0.0.2")
	if len(lines) != 1 || lines[0] != "10.0.0.1, 10.0.0.2" || got.Unmap() != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("got lines %q and client %v", lines, got)
	}
}

// hot is a handler over the real rule with one hot entry, whose clicks are
// described in full and then dropped, or not counted at all.
func hot(tb testing.TB, clicks bool) (*handler, *fasthttp.RequestCtx, func()) {
	tb.Helper()
	s := newStage(tb)
	facts, err := visitor.New(tb.Context(), visitor.Config{Logger: s.Logger})
	if err != nil {
		tb.Fatal(err)
	}
	facts.Learn([]feed.Salt{{Day: feed.Day(now)}})
	s.Describe = facts.Describe
	if clicks {
		s.Clicks = &dropped{}
	}
	key := link.Key{Code: "abc"}
	table := feed.NewTable(1024, 1)
	table.Reset(feed.Shard(key.Hash()), 1, 1)
	table.Reset(feed.ConfigShard, 1, 0)
	table.Answer(feed.Shard(key.Hash()), 1, 1, 1)
	table.Answer(feed.ConfigShard, 1, 1, 0)
	cache, err := l1.New(1 << 20)
	if err != nil {
		tb.Fatal(err)
	}
	cache.Store(key.Hash(), &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: feed.Body{
		State: feed.Enabled, Status: 302, Target: "https://example.com/a?b=1#c", Query: link.QueryAppend, Clicks: true,
	}})
	cache.Wait()
	resolver := redirect.New(redirect.Config{
		Table: table, L1: cache, MaxFills: 1, Bound: func() time.Duration { return time.Second },
	})
	s.Resolve, s.Held, s.Mark = resolver.Resolve, resolver.Held, resolver.Mark
	ctx := &fasthttp.RequestCtx{}
	var req fasthttp.Request
	req.Header.SetMethod("GET")
	req.SetRequestURI("/abc?x=y")
	req.Header.SetHost("Go.Example:8080")
	ctx.Init(&req, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}, nil)
	ctx.Request.Header.SetHost("short.example")
	for name, value := range map[string]string{
		"User-Agent":      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
		"Accept":          "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"Accept-Encoding": "gzip, deflate, br, zstd", "Accept-Language": "de-DE,de;q=0.9,en;q=0.8",
		"Referer": "https://news.example/", "Sec-Fetch-Mode": "navigate", "Upgrade-Insecure-Requests": "1",
	} {
		ctx.Request.Header.Set(name, value)
	}
	return s.handler, ctx, cache.Close
}

// dropped is a counter that keeps nothing.
type dropped struct{ clicks, visitors int }

func (d *dropped) Count(r *click.Record) uint64 {
	d.clicks++
	if r.Visitor != 0 {
		d.visitors++
	}
	return 0
}
func (*dropped) Cancel(uint64, *click.Record) {}
func (*dropped) Orphan(int64)                 {}

func BenchmarkL1Hit(b *testing.B) {
	for _, clicks := range []bool{false, true} {
		b.Run(fmt.Sprintf("clicks=%v", clicks), func(b *testing.B) {
			h, ctx, end := hot(b, clicks)
			defer end()
			b.ReportAllocs()
			for b.Loop() {
				ctx.Response.Reset()
				h.serve(ctx)
			}
		})
		b.Run(fmt.Sprintf("clicks=%v/direct", clicks), func(b *testing.B) {
			h, ctx, end := hot(b, clicks)
			defer end()
			request := append([]byte(nil), ctx.Request.Header.Header()...)
			c := &headConn{Conn: sink{}, asked: true}
			b.ReportAllocs()
			for b.Loop() {
				if done, _ := h.direct(c, request); done != len(request) {
					b.Fatalf("answered %d bytes", done)
				}
			}
		})
	}
}
