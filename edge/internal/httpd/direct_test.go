package httpd

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

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
