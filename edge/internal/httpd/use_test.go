package httpd

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/edge/internal/redirect"
	"waypost/shared/feed"
	"waypost/shared/link"
)

const secret = "https://example.com/secret?a=b"

// limitedBody is a limited link as the tiers hold it.
func limitedBody() feed.Body {
	b := liveBody()
	b.Limited, b.Target, b.Query = true, "", link.QueryAppend
	return b
}

// uses lets an origin answer with what is left of a limit.
func (s *stage) uses(left int64) (asked *atomic.Int64) {
	asked = &atomic.Int64{}
	s.Use = func(_ context.Context, key link.Key, hash uint64) (feed.Verdict, redirect.Answer, error) {
		if key != (link.Key{Code: "abc"}) || hash != key.Hash() {
			return 0, redirect.Answer{}, errors.New("another link was asked for")
		}
		e := *s.entries[key]
		if asked.Add(1) > left {
			return feed.UsedUp, redirect.Answer{Entry: &e, Tier: redirect.Origin}, nil
		}
		e.Target = secret
		return feed.UseTaken, redirect.Answer{Entry: &e, Tier: redirect.Origin}, nil
	}
	return asked
}

const bypass = "Cache-Status: waypost-eu; fwd=bypass"

func TestALimitedLinkLeadsAsOftenAsTheOriginSays(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(limitedBody())
	s.uses(2)
	for range 2 {
		s.want(t, s.get(t, "GET /abc?x=y"), 302, "Location: "+secret+"&x=y", bypass, "Cache-Control: no-store")
	}
	s.want(t, s.get(t, "GET /abc"), 410, "Location: ", bypass, "Cache-Control: no-store")
	body := limitedBody()
	body.ExpiredURL = "https://example.com/over"
	s.put(body)
	s.want(t, s.get(t, "GET /abc"), 302, "Location: https://example.com/over", bypass, "Cache-Control: no-store")
	if len(l.clicks) != 3 || l.clicks[2].Status != 302 || len(l.canceled) != 0 {
		t.Errorf("got %+v, canceled %v, want three clicks", l.clicks, l.canceled)
	}
}

func TestFiftyAtOnceShareOneUse(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(limitedBody())
	key := link.Key{Code: "abc"}
	entry := s.entries[key]
	s.Resolve = func(context.Context, string, []byte, uint64) (redirect.Answer, error) {
		return redirect.Answer{Entry: entry, Tier: redirect.L1}, nil
	}
	s.uses(1)
	var sent, gone atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			switch resp := s.get(t, "GET /abc"); resp.StatusCode() {
			case 302:
				sent.Add(1)
			case 410:
				gone.Add(1)
			}
		})
	}
	all.Wait()
	if sent.Load() != 1 || gone.Load() != 49 || len(l.clicks) != 1 {
		t.Errorf("got %d redirects, %d gone and %d clicks, want 1, 49 and 1", sent.Load(), gone.Load(), len(l.clicks))
	}
}

func TestWhoIsNoVisitorTakesNoUseAndSeesNoTarget(t *testing.T) {
	t.Parallel()
	for name, request := range map[string][]string{
		"HEAD": {"HEAD /abc"}, "preview": {"GET /abc+"}, "bot": {"GET /abc", "User-Agent: bot"}, "prefetch": {"GET /abc", "Sec-Purpose: prefetch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, clicks := range []bool{true, false} {
				s, l := counting(t)
				if !clicks {
					s.Clicks = nil
				}
				s.put(limitedBody())
				asked := s.uses(1)
				resp := s.get(t, request[0], request[1:]...)
				s.want(t, resp, 200, "Location: ", bypass, "Cache-Control: no-store", "Content-Type: text/html; charset=utf-8")
				if body := string(resp.Body()); strings.Contains(body, "secret") || strings.Contains(body, "href") || !strings.Contains(body, "abc") {
					t.Errorf("got %s", body)
				}
				if asked.Load() != 0 || len(l.clicks) != 0 || len(l.orphans) != 0 {
					t.Errorf("asked for %d uses and counted %d clicks, want none", asked.Load(), len(l.clicks))
				}
			}
		})
	}
}

func TestNobodyMayKeepWhereALimitedLinkLeads(t *testing.T) {
	t.Parallel()
	for _, status := range []uint16{301, 302, 307, 308} {
		s, _ := counting(t)
		body := limitedBody()
		body.Status = status
		s.put(body)
		s.uses(1)
		s.want(t, s.get(t, "GET /abc"), int(status), "Location: "+secret, bypass, "Cache-Control: no-store")
	}
}

func TestALimitedLinkOfWhichNothingIsCountedIsLimitedAllTheSame(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	body := limitedBody()
	body.Clicks = false
	s.put(body)
	s.uses(1)
	s.want(t, s.get(t, "GET /abc"), 302, "Location: "+secret)
	s.want(t, s.get(t, "GET /abc"), 410)
	if len(l.clicks) != 0 {
		t.Errorf("got %+v, want no clicks", l.clicks)
	}
}

func TestWithoutAnOriginALimitedLinkIs503(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"away": link.ErrUnavailable, "wrapped": errors.Join(errors.New("x"), link.ErrUnavailable), "unready": redirect.ErrUnready,
	} {
		s, l := counting(t)
		s.put(limitedBody())
		s.Use = func(context.Context, link.Key, uint64) (feed.Verdict, redirect.Answer, error) {
			return 0, redirect.Answer{}, err
		}
		for _, mark := range []redirect.Marking{redirect.Unmarked, redirect.Marked} {
			s.mark = mark
			s.want(t, s.get(t, "GET /abc"), 503, "Location: ", bypass, "Retry-After: 1", "Cache-Control: no-store")
		}
		if len(l.clicks) != 0 {
			t.Errorf("%s: got %+v, want no clicks", name, l.clicks)
		}
	}
}

func TestWhatWillBeRefusedTakesNoUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request string
		change  func(*feed.Body)
		mark    redirect.Marking
		status  int
	}{
		{"GET /abc", func(b *feed.Body) { b.State = feed.Disabled }, redirect.Unmarked, 410},
		{"GET /abc", func(b *feed.Body) { b.ExpiresAt = now }, redirect.Unmarked, 410},
		{"GET /abc", func(b *feed.Body) { b.StartsAt = now + 1 }, redirect.Unmarked, 404},
		{"GET /abc", func(*feed.Body) {}, redirect.Withheld, 503},
		{"GET /abc/more", func(*feed.Body) {}, redirect.Unmarked, 404},
		{"GET /abc/../x", func(b *feed.Body) { b.Suffix = link.SuffixAppend }, redirect.Unmarked, 404},
		{"GET /abc?\x01", func(*feed.Body) {}, redirect.Unmarked, 400},
		{"POST /abc", func(*feed.Body) {}, redirect.Unmarked, 405},
	} {
		s, l := counting(t)
		body := limitedBody()
		c.change(&body)
		s.put(body)
		s.mark = c.mark
		asked := s.uses(1)
		s.want(t, s.get(t, c.request), c.status)
		if asked.Load() != 0 || len(l.clicks) != 0 {
			t.Errorf("%q, %d: asked for %d uses and counted %d clicks, want none", c.request, c.status, asked.Load(), len(l.clicks))
		}
	}
}

func TestWhatTheOriginSaysOfALimitedLinkCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		body   feed.Body
		status int
		clicks int
	}{
		{"limited no more", liveBody(), 302, 1},
		{"deleted", feed.Body{}, 404, 0},
		{"disabled", func() feed.Body { b := limitedBody(); b.State = feed.Disabled; return b }(), 410, 0},
		{"expired", func() feed.Body { b := limitedBody(); b.ExpiresAt = now; return b }(), 410, 0},
		{"in its time by this edge's clock alone", limitedBody(), 503, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, l := counting(t)
			s.put(limitedBody())
			s.Use = func(_ context.Context, key link.Key, _ uint64) (feed.Verdict, redirect.Answer, error) {
				e := &feed.Entry{Epoch: 1, AsOf: 2, Version: 2, Key: key, Body: c.body}
				return feed.UseNone, redirect.Answer{Entry: e, Tier: redirect.Origin}, nil
			}
			s.want(t, s.get(t, "GET /abc"), c.status, bypass, "Cache-Control: no-store", "Location: "+c.body.Target)
			if len(l.clicks) != c.clicks {
				t.Errorf("got %+v, want %d clicks", l.clicks, c.clicks)
			}
		})
	}
}

func TestAUseThatTookTooLongIsMarkedOrLost(t *testing.T) {
	t.Parallel()
	for mark, want := range map[redirect.Marking]int{redirect.Marked: 302, redirect.Withheld: 503} {
		s, l := counting(t)
		s.put(limitedBody())
		asked := s.uses(1)
		s.lease = 9
		s.Mark = func(a redirect.Answer, _ feed.Instant) (redirect.Marking, time.Duration) {
			if asked.Load() == 0 {
				return redirect.Unmarked, 0
			}
			if a.Lease != 0 {
				t.Errorf("judged by the lease of %d, want the moment of asking", a.Lease)
			}
			return mark, 3 * time.Second
		}
		resp := s.get(t, "GET /abc")
		s.want(t, resp, want)
		if mark == redirect.Marked {
			s.want(t, resp, want, "Location: "+secret, bypass+"; ttl=-3; detail=stale", "Age: 3")
		} else {
			s.want(t, resp, want, "Location: ", bypass)
		}
		if got := len(l.clicks); (got == 1) != (want == 302) {
			t.Errorf("answered with %d: got %d clicks", want, got)
		}
	}
}

func TestAUseIsJudgedByTheConfigsLeaseToo(t *testing.T) {
	t.Parallel()
	s, _ := counting(t)
	s.put(limitedBody())
	s.ConfigLease = func() feed.Instant { return 5 }
	s.Use = func(_ context.Context, key link.Key, _ uint64) (feed.Verdict, redirect.Answer, error) {
		e := *s.entries[key]
		e.Target = secret
		return feed.UseTaken, redirect.Answer{Entry: &e, Lease: 9}, nil
	}
	var last feed.Instant
	s.Mark = func(a redirect.Answer, _ feed.Instant) (redirect.Marking, time.Duration) {
		last = a.Lease
		return redirect.Unmarked, 0
	}
	s.want(t, s.get(t, "GET /abc"), 302)
	if last != 5 {
		t.Errorf("judged by the lease of %d, want that of 5", last)
	}
}
