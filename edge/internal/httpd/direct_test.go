package httpd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// answering is a server over a stage, whose entries L1 has. resolved counts the
// requests that came through fasthttp.
type answering struct {
	*stage
	addr     string
	resolved atomic.Int64
	asks     atomic.Int64 // of the limiter
	stop     func() error
}

// answer runs a server over the stage until the test ends. Without direct all
// requests go through fasthttp.
func (s *stage) answer(t *testing.T, direct bool) *answering {
	t.Helper()
	a := &answering{stage: s}
	cfg := a.config()
	if !direct {
		cfg.Held = nil
	}
	resolve, admit := cfg.Resolve, cfg.Admit
	cfg.Resolve = func(ctx context.Context, domain string, code []byte, hash uint64) (redirect.Answer, error) {
		a.resolved.Add(1)
		return resolve(ctx, domain, code, hash)
	}
	cfg.Admit = func(ctx context.Context, client netip.Addr) (int, bool) {
		a.asks.Add(1)
		return admit(ctx, client)
	}
	ctx, cancel := context.WithCancel(t.Context())
	server := New(ctx, cfg, 0)
	if err := server.Listen(ctx, "127.0.0.1:0", nil); err != nil {
		t.Fatal(err)
	}
	a.addr = server.Addr()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	stopped := false
	a.stop = func() error {
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if stopped {
			return
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// config is the stage's, with all its entries in L1.
func (a *answering) config() Config {
	cfg := a.Config
	cfg.Held = func(domain string, code []byte, _ uint64) (redirect.Answer, bool) {
		e := a.entries[link.Key{Domain: domain, Code: string(code)}]
		return redirect.Answer{Entry: e, Tier: redirect.L1, Lease: a.lease}, e != nil
	}
	return cfg
}

// sink is a connection that takes all and keeps nothing.
type sink struct{ net.Conn }

func (sink) Write(p []byte) (int, error)      { return len(p), nil }
func (sink) SetWriteDeadline(time.Time) error { return nil }

func (a *answering) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

var dateLine = regexp.MustCompile(`(?m)^Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r$`)

// exchanged sends requests on one connection, one after the other, and returns all
// that came back until the server closed it or closeBehind was answered. Dates are
// taken out.
func (a *answering) exchanged(t *testing.T, requests ...string) string {
	t.Helper()
	conn := a.dial(t)
	answers := bufio.NewReader(conn)
	var all strings.Builder
	for _, request := range requests {
		if _, err := io.WriteString(conn, request); err != nil {
			return all.String() + "closed\n"
		}
		var raw bytes.Buffer
		tee := bufio.NewReader(io.TeeReader(answers, &raw))
		method, _, _ := strings.Cut(request, " ")
		resp, err := http.ReadResponse(tee, &http.Request{Method: method})
		if err != nil {
			return all.String() + "closed\n"
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if !dateLine.Match(raw.Bytes()) {
			t.Errorf("%.40q: no date in %q", request, raw.String())
		}
		all.WriteString(dateLine.ReplaceAllString(raw.String(), "Date\r"))
	}
	return all.String()
}

const asked = " HTTP/1.1\r\nHost: short.example\r\nUser-Agent: x\r\n\r\n"

func TestADirectAnswerIsFasthttpsByteForByte(t *testing.T) {
	t.Parallel()
	links := map[string]func(*feed.Body){
		"plain":    func(*feed.Body) {},
		"moved":    func(b *feed.Body) { b.Status = 301 },
		"other":    func(b *feed.Body) { b.Status = 307 },
		"for-good": func(b *feed.Body) { b.Status = 308 },
		"soon":     func(b *feed.Body) { b.Status, b.ExpiresAt = 301, now+7*second },
		"over":     func(b *feed.Body) { b.ExpiresAt = now },
		"further":  func(b *feed.Body) { b.ExpiresAt, b.ExpiredURL = now, "https://example.com/over" },
		"later":    func(b *feed.Body) { b.StartsAt = now + 1 },
		"off":      func(b *feed.Body) { b.State = feed.Disabled },
		"query":    func(b *feed.Body) { b.Query, b.Target = link.QueryAppend, "https://example.com/a?b=1#c" },
		"path":     func(b *feed.Body) { b.Suffix = link.SuffixAppend },
		"quiet":    func(b *feed.Body) { b.Clicks = false },
		"odd":      func(b *feed.Body) { b.Status = 303 },
		"evil":     func(b *feed.Body) { b.Target = "https://example.com/\r\nSet-Cookie: a=b" },
	}
	for _, c := range []struct {
		name    string
		request string
		direct  bool
	}{
		{"302", "GET /plain" + asked, true},
		{"301", "GET /moved" + asked, true},
		{"307", "GET /other" + asked, true},
		{"308", "GET /for-good" + asked, true},
		{"301 that ends soon", "GET /soon" + asked, true},
		{"a query that goes along", "GET /query?x=y&z" + asked, true},
		{"a query that does not", "GET /plain?x=y" + asked, true},
		{"a path that goes along", "GET /path/a/b%20c" + asked, true},
		{"not counted", "GET /quiet" + asked, true},
		{"keep-alive", "GET /plain HTTP/1.1\r\nHost: short.example\r\nConnection: Keep-Alive\r\n\r\n", true},
		{"names in lower case", "GET /plain HTTP/1.1\r\nhost: short.example\r\naccept: */*\r\n\r\n", true},
		{"a domain", "GET /plain HTTP/1.1\r\nHost: GO.example:8080\r\n\r\n", true},
		{"a cookie", "GET /plain HTTP/1.1\r\nHost:short.example\r\nCookie: a=\"b\"; c=\xc3\xa9 \r\nX_y: 1\r\n\r\n", true},
		{"expired", "GET /over" + asked, false},
		{"expired and moved", "GET /further" + asked, false},
		{"not yet", "GET /later" + asked, false},
		{"disabled", "GET /off" + asked, false},
		{"no such link", "GET /absent" + asked, false},
		{"a path that leads nowhere", "GET /plain/a" + asked, false},
		{"a preview", "GET /plain+" + asked, false},
		{"a status that is no link's", "GET /odd" + asked, false},
		{"a target that would add a line", "GET /evil" + asked, false},
		{"the home page", "GET /" + asked, false},
		{"the home page with a query", "GET /?x" + asked, false},
		{"robots.txt", "GET /robots.txt" + asked, false},
		{"a malformed path", "GET /%zz" + asked, false},
		{"a path of two slashes", "GET //plain" + asked, false},
		{"an absolute target", "GET http://short.example/plain HTTP/1.1\r\nHost: x\r\n\r\n", false},
		{"HEAD", "HEAD /plain" + asked, false},
		{"POST", "POST /plain HTTP/1.1\r\nHost: short.example\r\nContent-Length: 0\r\n\r\n", false},
		{"HTTP/1.0", "GET /plain HTTP/1.0\r\nHost: short.example\r\n\r\n", false},
		{"close", "GET /plain HTTP/1.1\r\nHost: short.example\r\nConnection: close\r\n\r\n", false},
		{"no host", "GET /plain HTTP/1.1\r\n\r\n", false},
		{"two hosts", "GET /plain HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", false},
		{"a host with a user", "GET /plain HTTP/1.1\r\nHost: a@short.example\r\n\r\n", false},
		{"an IPv6 host", "GET /plain HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", false},
		{"a port that is none", "GET /plain HTTP/1.1\r\nHost: short.example:x\r\n\r\n", false},
		{"a space in a name", "GET /plain HTTP/1.1\r\nHost: short.example\r\nA b: c\r\n\r\n", false},
		{"a space before the colon", "GET /plain HTTP/1.1\r\nHost: short.example\r\nA : c\r\n\r\n", false},
		{"no colon", "GET /plain HTTP/1.1\r\nHost: short.example\r\nA\r\n\r\n", false},
		{"a folded line", "GET /plain HTTP/1.1\r\nHost: short.example\r\nA: b\r\n c: d\r\n\r\n", false},
		{"a control byte", "GET /plain HTTP/1.1\r\nHost: short.example\r\nA: b\x00\r\n\r\n", false},
		{"a control byte in the target", "GET /pl\x01ain" + asked, false},
		{"a lone CR", "GET /plain HTTP/1.1\r\nHost: short.example\r\nA: b\rc\r\n\r\n", false},
		{"lone LFs", "GET /plain HTTP/1.1\nHost: short.example\n\r\n\r\n", false},
		{"a body", "GET /plain HTTP/1.1\r\nHost: short.example\r\nContent-Length: 1\r\n\r\nx", false},
		{"two bodies", "GET /plain HTTP/1.1\r\nHost: short.example\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
		{"five proxies' lines", "GET /plain HTTP/1.1\r\nHost: short.example\r\n" + strings.Repeat("X-Forwarded-For: 192.0.2.7\r\n", 5) + "\r\n", false},
		{"two agents", "GET /plain HTTP/1.1\r\nHost: short.example\r\nUser-Agent: a\r\nUser-Agent: b\r\n\r\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var told [2]string
			var clicks [2][]click.Record
			for i, direct := range []bool{false, true} {
				s, l := counting(t)
				for code, change := range links {
					body := liveBody()
					change(&body)
					for _, domain := range []string{"", "go.example"} {
						key := link.Key{Domain: domain, Code: code}
						s.entries[key] = &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: body}
					}
				}
				a := s.answer(t, direct)
				told[i] = a.exchanged(t, "GET /plain"+asked, c.request, "GET /plain"+asked)
				if err := a.stop(); err != nil {
					t.Fatal(err)
				}
				clicks[i] = slices.Clone(l.clicks)
				if !direct {
					continue
				}
				done, _ := newHandler(a.config(), t.Context(), func() bool { return false }).
					direct(&headConn{Conn: sink{}, asked: true}, []byte(c.request))
				if got := done == len(c.request); got != c.direct {
					t.Errorf("answered directly: got %v, want %v", got, c.direct)
				}
				if got, want := a.asks.Load(), int64(len(clicks[i])); got < want {
					t.Errorf("direct %v: the limiter was asked %d times for %d clicks", direct, got, want)
				}
			}
			if told[1] != told[0] {
				t.Errorf("got answers\n%s\nfasthttp's are\n%s", told[1], told[0])
			}
			if len(clicks[0]) != len(clicks[1]) {
				t.Fatalf("got %d clicks, fasthttp's way counts %d", len(clicks[1]), len(clicks[0]))
			}
			for i := range clicks[0] {
				if clicks[0][i] != clicks[1][i] {
					t.Errorf("click %d: got %+v, want %+v", i, clicks[1][i], clicks[0][i])
				}
			}
		})
	}
}

func TestAHeadInABodyIsNotAnswered(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(liveBody())
	a := s.answer(t, true)
	for _, head := range []string{
		"GET /abc HTTP/1.1\r\nHost: short.example\r\nContent-Length: %\r\n\r\n",
		"GET /absent HTTP/1.1\r\nHost: short.example\r\nContent-Length: %\r\n\r\n",
		"HEAD /abc HTTP/1.1\r\nHost: short.example\r\nContent-Length: %\r\n\r\n",
		"POST /abc HTTP/1.1\r\nHost: short.example\r\nContent-Length: %\r\n\r\n",
	} {
		for _, pause := range []bool{false, true} {
			conn := a.dial(t)
			body := "GET /abc" + asked
			parts := []string{"GET /abc" + asked + "GET /abc" + asked, strings.Replace(head, "%", strconv.Itoa(len(body)), 1), body}
			if !pause {
				parts = []string{strings.Join(parts, "")}
			}
			for _, part := range parts {
				if _, err := io.WriteString(conn, part); err != nil {
					t.Fatal(err)
				}
				if pause {
					time.Sleep(20 * time.Millisecond) // so that it is a read of its own
				}
			}
			if _, err := io.WriteString(conn, "GET /absent HTTP/1.1\r\nHost: short.example\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatal(err)
			}
			if n := strings.Count(string(got), "HTTP/1.1 "); n > 4 {
				t.Errorf("%.20q, in parts %v: got %d answers to four requests:\n%s", head, pause, n, got)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.clicks) > 16+2 { // the first two of each, and a GET of a link with a body
		t.Errorf("got %d clicks", len(l.clicks))
	}
}

func TestADeniedRequestAsksTheLimiterOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(liveBody())
	s.refuse = 3
	a := s.answer(t, true)
	if got := a.exchanged(t, "GET /abc"+asked, "GET /abc"+asked); strings.Count(got, "Retry-After: 3\r\n") != 2 {
		t.Errorf("got %s", got)
	}
	if got := a.asks.Load(); got != 2 {
		t.Errorf("two requests asked %d times", got)
	}
}

func TestAMissAsksTheLimiterOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(liveBody())
	a := s.answer(t, true)
	a.exchanged(t, "GET /absent"+asked, "GET /abc"+asked, "GET /absent"+asked)
	if got := a.asks.Load(); got != 3 {
		t.Errorf("three requests asked %d times", got)
	}
	if got := a.resolved.Load(); got != 2 { // the first is one of them
		t.Errorf("%d requests went through fasthttp, want the two misses", got)
	}
}

func TestAPanicBeforeADirectAnswerIsFasthttpsToAnswer(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(*stage){
		"of the description": func(s *stage) {
			s.Describe = func(*visitor.Request, *click.Record) { panic("describe") }
		},
		"of the count": func(s *stage) { s.Clicks.(*ledger).fault = true },
		"of the audit, once": func(s *stage) {
			var n atomic.Int64
			s.Served = func(*feed.Entry, feed.Instant) {
				if n.Add(1) == 2 {
					panic("served")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := counting(t)
			s.put(liveBody())
			put(s)
			a := s.answer(t, true)
			if got := a.exchanged(t, "GET /abc"+asked, "GET /abc"+asked); strings.Count(got, "HTTP/1.1 302 ") != 2 {
				t.Errorf("got %s", got)
			}
			if got := a.resolved.Load(); got != 2 {
				t.Errorf("%d requests went through fasthttp, want both", got)
			}
			if counted := len(l.clicks) - len(l.canceled); counted != 2 && !l.fault {
				t.Errorf("counted %d times", counted)
			}
		})
	}
}

func TestARulingThatChangesWhileTheClickIsRecordedIsFasthttpsToMake(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	body := liveBody()
	body.ExpiresAt = now + 5
	s.put(body)
	var late atomic.Bool
	s.Clock = func() (feed.Instant, int64) {
		if late.Load() {
			return 2, now + 5
		}
		return 1, now
	}
	s.Clicks = lateCounter{l, &late}
	a := s.answer(t, true)
	if got := a.exchanged(t, "GET /absent"+asked, "GET /abc"+asked); !strings.Contains(got, "HTTP/1.1 410 ") {
		t.Errorf("got %s", got)
	}
	if len(l.clicks) != 1 || len(l.canceled) != 1 {
		t.Errorf("got %d clicks, %d taken back", len(l.clicks), len(l.canceled))
	}
}

// lateCounter lets time pass while it counts.
type lateCounter struct {
	*ledger
	late *atomic.Bool
}

func (c lateCounter) Count(r *click.Record) uint64 {
	c.late.Store(true)
	return c.ledger.Count(r)
}

func TestAnAnswerThatIsOnItsWayWhenTheServerStopsGoesOut(t *testing.T) {
	t.Parallel()
	for _, before := range []int{1, 3} {
		s, l := counting(t)
		s.put(liveBody())
		reached, release := make(chan struct{}), make(chan struct{})
		s.Served = func(*feed.Entry, feed.Instant) {
			l.mu.Lock()
			n := len(l.clicks)
			l.mu.Unlock()
			if n == before+1 {
				close(reached)
				<-release
			}
		}
		a := s.answer(t, true)
		conn := a.dial(t)
		answers := bufio.NewReader(conn)
		for i := range before + 1 {
			if _, err := io.WriteString(conn, "GET /abc"+asked); err != nil {
				t.Fatal(err)
			}
			if i == before {
				<-reached
				stopped := make(chan error, 1)
				go func() { stopped <- a.stop() }()
				select {
				case err := <-stopped:
					t.Errorf("the server stopped with an answer on its way: %v", err)
				case <-time.After(300 * time.Millisecond): // it closes what looks idle by then
				}
				close(release)
				defer func() {
					if err := <-stopped; err != nil {
						t.Error(err)
					}
				}()
			}
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("after %d answers: %v", i, err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestALeavingServersAnswersCloseConnections(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(liveBody())
	a := s.answer(t, true)
	for _, leaving := range []bool{false, true} {
		h := newHandler(a.config(), t.Context(), func() bool { return leaving })
		if done, plain := h.direct(&headConn{Conn: sink{}, asked: true}, []byte("GET /abc"+asked)); (done > 0) == leaving || plain == leaving {
			t.Errorf("leaving %v: answered %d bytes, plain %v", leaving, done, plain)
		}
	}
}

func TestTheEndOfAnIdleConnectionIsNoRequestThatDidNotCome(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	here.direct = true
	if err := here.SetReadDeadline(time.Now().Add(-2 * deadlineSlack)); err != nil {
		t.Fatal(err)
	}
	if n, err := here.Read(make([]byte, 9)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v, want EOF", n, err)
	}
	_ = there
}

func TestPipelinedHitsAndMissesAreAnsweredInOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, code := range []string{"a", "b", "c", "d"} {
		body := liveBody()
		body.Target = "https://example.com/" + code
		key := link.Key{Code: code}
		s.entries[key] = &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: body}
	}
	a := s.answer(t, true)
	conn := a.dial(t)
	var all strings.Builder
	want := []string{"a", "b", "", "c", "", "", "d", "a"}
	for range 3 {
		for _, code := range want {
			if code == "" {
				code = "absent"
			}
			all.WriteString("GET /" + code + asked)
		}
	}
	if _, err := io.WriteString(conn, all.String()); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	for i := range 3 * len(want) {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		code := want[i%len(want)]
		if got := resp.Header.Get("Location"); code == "" && resp.StatusCode != 404 || code != "" && got != "https://example.com/"+code {
			t.Errorf("answer %d: got %d, %q, want that of %q", i, resp.StatusCode, got, code)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Error(err)
		}
	}
	if got := a.resolved.Load(); got != 10 {
		t.Errorf("%d requests went through fasthttp, want the first and the 9 misses", got)
	}
}

func TestHitsAreAnsweredDirectlyAgainOnceFasthttpHasReadAPlainOne(t *testing.T) {
	t.Parallel()
	hit := "GET /abc" + asked
	for name, c := range map[string]struct {
		odd     string
		through int64 // requests of links that go through fasthttp: the first, the odd one, and one more
	}{
		"after HEAD":           {"HEAD /abc" + asked, 3},
		"after a body":         {"GET /abc HTTP/1.1\r\nHost: short.example\r\nContent-Length: 1\r\n\r\nx", 3},
		"after a folded line":  {"GET /abc HTTP/1.1\r\nHost: short.example\r\nA: b\r\n c\r\n\r\n", 3},
		"after an odd target":  {"GET http://short.example/abc" + asked, 2}, // which is plain but for that
		"after an empty chunk": {"GET /abc HTTP/1.1\r\nHost: short.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.put(liveBody())
			a := s.answer(t, true)
			got := a.exchanged(t, hit, hit, c.odd, hit, hit, hit)
			if n := strings.Count(got, "HTTP/1.1 302 "); n != 6 {
				t.Fatalf("got %d redirects:\n%s", n, got)
			}
			if got := a.resolved.Load(); got != c.through {
				t.Errorf("%d requests went through fasthttp, want %d", got, c.through)
			}
		})
	}
	t.Run("after one in parts", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.put(liveBody())
		h := newHandler((&answering{stage: s}).config(), t.Context(), func() bool { return false })
		conn := &script{}
		for _, piece := range []string{hit, hit[:20], hit[20:], hit} {
			conn.pieces = append(conn.pieces, []byte(piece))
		}
		c := &headConn{Conn: takes{conn, sink{}}, handler: h}
		buf := make([]byte, 1<<10)
		for _, want := range []string{hit, hit[:20], hit[20:]} {
			if n, err := c.Read(buf); err != nil || string(buf[:n]) != want {
				t.Fatalf("got %q, %v, want %q", buf[:n], err, want)
			}
		}
		var ctx fasthttp.RequestCtx
		ctx.Init2(c, nil, false)
		if err := ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(hit))); err != nil {
			t.Fatal(err)
		}
		h.serve(&ctx)
		if n, err := c.Read(buf); n != 0 || !errors.Is(err, io.EOF) || !c.direct {
			t.Errorf("got %q, %v, want the hit answered and then the end", buf[:n], err)
		}
	})
}

// takes is a connection that reads from one and writes to another.
type takes struct {
	*script
	to sink
}

func (c takes) Write(p []byte) (int, error)      { return c.to.Write(p) }
func (c takes) SetWriteDeadline(time.Time) error { return nil }
func (c takes) SetReadDeadline(time.Time) error  { return nil }
func (c takes) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }
func (c takes) LocalAddr() net.Addr              { return c.RemoteAddr() }
