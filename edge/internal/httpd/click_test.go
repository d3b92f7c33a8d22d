package httpd

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// ledger is a counter that a test can read.
type ledger struct {
	mu       sync.Mutex
	clicks   []click.Record
	canceled []uint64
	orphans  []int64
	fault    bool // every call panics
}

func (l *ledger) Count(r *click.Record) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault {
		panic("count")
	}
	l.clicks = append(l.clicks, *r)
	return uint64(len(l.clicks))
}

func (l *ledger) Cancel(ticket uint64, r *click.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault || *r != l.clicks[ticket-1] {
		panic("cancel")
	}
	l.canceled = append(l.canceled, ticket)
}

func (l *ledger) Orphan(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault {
		panic("orphan")
	}
	l.orphans = append(l.orphans, at)
}

// counting is a stage that counts into a ledger. Whoever names itself a bot is
// described as one.
func counting(tb testing.TB) (*stage, *ledger) {
	tb.Helper()
	s, l := newStage(tb), &ledger{}
	s.Clicks = l
	s.Describe = func(from *visitor.Request, r *click.Record) {
		r.Bot = string(from.Agent) == "bot" || string(from.Purpose) == "prefetch"
		r.Visitor = 7
	}
	return s, l
}

func liveBody() feed.Body {
	return feed.Body{State: feed.Enabled, Status: 302, LinkID: 42, Target: "https://example.com/", Clicks: true}
}

func TestAClickIsAGetThatIsSentOn(t *testing.T) {
	t.Parallel()
	const over = "https://example.com/over"
	with := func(change func(*feed.Body)) feed.Body {
		b := liveBody()
		change(&b)
		return b
	}
	ended := with(func(b *feed.Body) { b.Status, b.ExpiresAt, b.ExpiredURL = 301, now, over })
	later := with(func(b *feed.Body) { b.StartsAt = now + 1 })
	for _, c := range []struct {
		name    string
		request string
		body    feed.Body
		clicks  int
		status  uint16 // of the click
		orphans int
	}{
		{"live", "GET /abc", liveBody(), 1, 302, 0},
		{"with a query", "GET /abc?x=y", liveBody(), 1, 302, 0},
		{"permanent", "GET /abc", with(func(b *feed.Body) { b.Status = 308 }), 1, 308, 0},
		{"expired to a page", "GET /abc", ended, 1, 302, 0},
		{"HEAD", "HEAD /abc", liveBody(), 0, 0, 0},
		{"HEAD of an expired link", "HEAD /abc", ended, 0, 0, 0},
		{"preview", "GET /abc+", liveBody(), 0, 0, 0},
		{"preview of an expired link", "GET /abc+", ended, 0, 0, 0},
		{"POST", "POST /abc", liveBody(), 0, 0, 0},
		{"home", "GET /", liveBody(), 0, 0, 0},
		{"disabled", "GET /abc", with(func(b *feed.Body) { b.State = feed.Disabled }), 0, 0, 0},
		{"expired", "GET /abc", with(func(b *feed.Body) { b.ExpiresAt = now }), 0, 0, 0},
		{"bad query", "GET /abc?\x01", with(func(b *feed.Body) { b.Query = link.QueryAppend }), 0, 0, 0},
		{"do not track", "GET /abc", with(func(b *feed.Body) { b.Clicks = false }), 0, 0, 0},
		{"unknown code", "GET /nosuch", liveBody(), 0, 0, 1},
		{"HEAD of an unknown code", "HEAD /nosuch", liveBody(), 0, 0, 0},
		{"preview of an unknown code", "GET /nosuch+", liveBody(), 0, 0, 0},
		{"not yet", "GET /abc", later, 0, 0, 1},
		{"not yet, do not track", "GET /abc", func() feed.Body { b := later; b.Clicks = false; return b }(), 0, 0, 0},
		{"path behind a code", "GET /abc/more", liveBody(), 0, 0, 1},
		{"no code", "GET /.git/config", liveBody(), 0, 0, 0},
		{"malformed", "GET /%zz", liveBody(), 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, l := counting(t)
			s.put(c.body)
			resp := s.get(t, c.request)
			if len(l.clicks) != c.clicks || len(l.orphans) != c.orphans || len(l.canceled) != 0 {
				t.Fatalf("status %d: got clicks %+v, orphans %v, canceled %v, want %d, %d and 0", resp.StatusCode(), l.clicks, l.orphans, l.canceled, c.clicks, c.orphans)
			}
			if c.clicks == 1 {
				want := click.Record{
					At: now, Link: 42, Shard: uint8(feed.Shard(link.Key{Code: "abc"}.Hash())), Version: 1, Status: c.status, Visitor: 7,
				}
				if l.clicks[0] != want || resp.StatusCode() != int(c.status) {
					t.Errorf("got status %d and\n%+v, want\n%+v", resp.StatusCode(), l.clicks[0], want)
				}
			}
			if c.orphans == 1 && l.orphans[0] != now {
				t.Errorf("got an orphan at %d, want %d", l.orphans[0], now)
			}
		})
	}
}

func TestWithClicksOffNothingIsRecorded(t *testing.T) {
	t.Parallel()
	s, _ := counting(t)
	s.Clicks = nil
	s.Describe = func(*visitor.Request, *click.Record) { t.Error("a visitor was described") }
	s.put(liveBody())
	s.want(t, s.get(t, "GET /abc"), 302)
	s.want(t, s.get(t, "GET /nosuch"), 404)
}

func TestRefusedRequestsAreNoClicks(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(liveBody())
	s.mark = redirect.Withheld
	s.want(t, s.get(t, "GET /abc"), 503)
	s.want(t, s.get(t, "GET /nosuch"), 503)
	s.err = link.ErrUnavailable
	s.want(t, s.get(t, "GET /abc"), 503)
	s.refuse = 1
	s.want(t, s.get(t, "GET /abc"), 429)
	if len(l.clicks) != 0 || len(l.orphans) != 0 {
		t.Errorf("got %+v and %v, want none", l.clicks, l.orphans)
	}
}

func TestTheClockIsReadAfterTheClickIsRecorded(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(liveBody())
	var order []string
	s.Clock = func() (feed.Instant, int64) {
		if len(l.clicks) > 0 {
			order = append(order, "after")
			return 2, now
		}
		order = append(order, "before")
		return 1, now
	}
	served := feed.Instant(0)
	s.Served = func(_ *feed.Entry, at feed.Instant) { served = at }
	s.want(t, s.get(t, "GET /abc"), 302)
	if got := strings.Join(order, " "); got != "before after" || served != 2 {
		t.Errorf("read the clock %q and served at %d, want the reading after the click's record", got, served)
	}
}

func TestALeaseThatEndsWhileTheClickIsRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		last     redirect.Marking
		status   int
		canceled int
	}{
		{"available", redirect.Marked, 302, 0},
		{"strict", redirect.Withheld, 503, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, l := counting(t)
			s.put(liveBody())
			s.Mark = func(redirect.Answer, feed.Instant) (redirect.Marking, time.Duration) {
				if len(l.clicks) == 0 {
					return redirect.Unmarked, 0
				}
				return c.last, time.Second
			}
			resp := s.get(t, "GET /abc")
			s.want(t, resp, c.status, "Cache-Control: no-store")
			if len(l.clicks) != 1 || len(l.canceled) != c.canceled {
				t.Errorf("got %d clicks and %d canceled, want 1 and %d", len(l.clicks), len(l.canceled), c.canceled)
			}
			if got := string(resp.Header.Peek("Age")); (got != "") != (c.last == redirect.Marked) {
				t.Errorf("got Age %q", got)
			}
		})
	}
}

func TestALinkThatEndsWhileTheClickIsRecorded(t *testing.T) {
	t.Parallel()
	for over, want := range map[string]int{"": 410, "https://example.com/over": 302} {
		s, l := counting(t)
		body := liveBody()
		body.ExpiresAt, body.ExpiredURL = now+1, over
		s.put(body)
		s.Clock = func() (feed.Instant, int64) { return 1, now + int64(len(l.clicks)) }
		s.want(t, s.get(t, "GET /abc"), want, "Location: "+over)
		if canceled := want == 410; len(l.clicks) != 1 || (len(l.canceled) == 1) != canceled {
			t.Errorf("answered with %d: got %d clicks, %d of them canceled", want, len(l.clicks), len(l.canceled))
		}
	}
}

func TestAPanicWhileCountingDoesNotReachTheVisitor(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*stage, *ledger){
		"the visitor": func(s *stage, _ *ledger) { s.Describe = func(*visitor.Request, *click.Record) { panic("describe") } },
		"the counter": func(_ *stage, l *ledger) { l.fault = true },
		"the last moment": func(s *stage, l *ledger) {
			s.Mark = func(redirect.Answer, feed.Instant) (redirect.Marking, time.Duration) {
				if len(l.clicks) == 0 {
					return redirect.Unmarked, 0
				}
				l.fault = true
				return redirect.Withheld, 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := counting(t)
			s.put(liveBody())
			breakIt(s, l)
			want := 302
			if name == "the last moment" {
				want = 503
			}
			s.want(t, s.get(t, "GET /abc"), want)
			if l.fault && want == 302 {
				s.want(t, s.get(t, "GET /nosuch"), 404)
			}
			if !strings.Contains(s.log.String(), "request_id") {
				t.Errorf("got log %q, want a line", s.log.String())
			}
		})
	}
}

func TestAClickWhoseAnswerPanicsIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*stage, *ledger){
		"the clock": func(s *stage, l *ledger) {
			s.Clock = func() (feed.Instant, int64) {
				if len(l.clicks) > len(l.canceled) {
					panic("clock")
				}
				return 1, now
			}
		},
		"the last word": func(s *stage, _ *ledger) { s.Served = func(*feed.Entry, feed.Instant) { panic("served") } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := counting(t)
			s.put(liveBody())
			breakIt(s, l)
			for n := range 2 { // the second in the memory of the first
				s.want(t, s.get(t, "GET /abc"), 500, "Location: ")
				if len(l.clicks) != n+1 || len(l.canceled) != n+1 || l.canceled[n] != uint64(n+1) {
					t.Errorf("got %d clicks and %v canceled after %d answers, want each taken back", len(l.clicks), l.canceled, n+1)
				}
			}
			if !strings.Contains(s.log.String(), "a request's handler panicked") {
				t.Errorf("got log %q, want the panic", s.log.String())
			}
		})
	}
}

func TestAClickIsRecordedThoughItsVisitorCannotBeDescribed(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.Describe = func(*visitor.Request, *click.Record) { panic("describe") }
	s.put(liveBody())
	s.want(t, s.get(t, "GET /abc"), 302)
	if len(l.clicks) != 1 || l.clicks[0].Link != 42 || l.clicks[0].At != now {
		t.Errorf("got %+v, want one click", l.clicks)
	}
}

func TestABotIsSentOnAndCounted(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(liveBody())
	s.want(t, s.get(t, "GET /abc", "User-Agent: bot"), 302)
	s.want(t, s.get(t, "GET /abc", "X-Moz: prefetch"), 302)
	if len(l.clicks) != 2 || !l.clicks[0].Bot || !l.clicks[1].Bot {
		t.Errorf("got %+v, want two clicks of bots", l.clicks)
	}
}

func TestHeadersReachTheDescription(t *testing.T) {
	t.Parallel()
	s, _ := counting(t)
	s.put(liveBody())
	s.CountryHeader = "CF-IPCountry"
	var got visitor.Request
	var agent, referrer, language, purpose, country string
	s.Describe = func(from *visitor.Request, r *click.Record) {
		got = *from
		agent, referrer, language = string(from.Agent), string(from.Referrer), string(from.Language)
		purpose, country = string(from.Purpose), string(from.Country)
		if *r != (click.Record{At: now}) {
			t.Errorf("got a record with something of another one: %+v", *r)
		}
	}
	for range 2 { // the second in the memory of the first
		s.get(t, "GET /abc", "User-Agent: agent", "Referer: https://a.example/", "Accept-Language: de", "sec-purpose: prefetch",
			"Purpose: other", "cf-ipcountry: AT", "Cookie: a=b")
		if agent != "agent" || referrer != "https://a.example/" || language != "de" || purpose != "prefetch" || country != "AT" {
			t.Errorf("got %q, %q, %q, %q, %q", agent, referrer, language, purpose, country)
		}
	}
	if want := (&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}).AddrPort().Addr(); got.Client != want || got.Peer != want {
		t.Errorf("got client %v and peer %v, want %v", got.Client, got.Peer, want)
	}
	s.get(t, "GET /abc")
	if agent+referrer+language+purpose+country != "" {
		t.Errorf("without headers: got %q, %q, %q, %q, %q", agent, referrer, language, purpose, country)
	}
}

func TestOfSeveralHeaderLinesTheFirstCounts(t *testing.T) {
	t.Parallel()
	s, _ := counting(t)
	var header fasthttp.RequestCtx
	header.Request.Header.Add("Referer", "https://first.example/")
	header.Request.Header.Add("Referer", "https://second.example/")
	var from visitor.Request
	s.listen(&header, &from)
	if got := string(from.Referrer); got != "https://first.example/" {
		t.Errorf("got %q, want the first", got)
	}
}
