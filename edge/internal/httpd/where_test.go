package httpd

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"waypost/edge/internal/redirect"
	"waypost/shared/feed"
	"waypost/shared/link"
)

const (
	homeURL     = "https://example.com/home"
	notFoundURL = "https://example.com/404"
	overURL     = "https://example.com/over"
)

// configured has a stage hold a config with these rows.
func (s *stage) configured(rows map[string]string) {
	s.seq++ // a position is of one config
	cfg := feed.NewConfig(1, s.seq, rows)
	s.Settings = func() *feed.Config { return cfg }
}

// block gives the stage a config that blocks hosts, and more rows.
func (s *stage) block(more map[string]string, hosts ...string) {
	rows := map[string]string{}
	maps.Copy(rows, more)
	for _, host := range hosts {
		rows[feed.BlockRow(feed.BlockByAPI, host)] = `{"host":"` + host + `","suffix":true}`
	}
	s.configured(rows)
}

// listed gives a handler a block list that says nothing of its hits.
func listed(h *handler) {
	cfg := feed.NewConfig(1, 1, map[string]string{
		feed.DomainRow("go.example"):                       `{"host":"go.example"}`,
		feed.BlockRow(feed.BlockByAPI, "bad.example"):      `{"host":"bad.example","suffix":true}`,
		feed.BlockRow(feed.BlockByFile, "www.example.com"): `{"host":"www.example.com"}`,
	})
	h.Settings = func() *feed.Config { return cfg }
}

func domainRow(host string) map[string]string {
	return map[string]string{feed.DomainRow(host): `{"host":"` + host + `","home_url":"` + homeURL +
		`","not_found_url":"` + notFoundURL + `","expired_url":"` + overURL + `"}`}
}

func TestADomainsURLsAreForItsVisitors(t *testing.T) {
	t.Parallel()
	ended := feed.Body{State: feed.Enabled, Target: "https://example.com/", ExpiresAt: now, Clicks: true}
	own := ended
	own.ExpiredURL = "https://example.com/own"
	disabled := feed.Body{State: feed.Disabled, Target: "https://example.com/", ExpiresAt: now}
	later := feed.Body{State: feed.Enabled, Target: "https://example.com/", StartsAt: now + 1, Clicks: true}
	for _, c := range []struct {
		name     string
		request  string
		body     feed.Body
		status   int
		location string
		clicks   int
		orphans  int
	}{
		{"home", "GET /", feed.Body{}, 302, homeURL, 0, 0},
		{"home by HEAD", "HEAD /", feed.Body{}, 302, homeURL, 0, 0},
		{"robots.txt", "GET /robots.txt", feed.Body{}, 200, "", 0, 0},
		{"unknown", "GET /nosuch", feed.Body{}, 302, notFoundURL, 0, 1},
		{"unknown by HEAD", "HEAD /nosuch", feed.Body{}, 302, notFoundURL, 0, 0},
		{"preview of an unknown one", "GET /nosuch+", feed.Body{}, 404, "", 0, 0},
		{"no code", "GET /.git/config", feed.Body{}, 302, notFoundURL, 0, 0},
		{"malformed", "GET /%zz", feed.Body{}, 400, "", 0, 0},
		{"not yet", "GET /abc", later, 302, notFoundURL, 0, 1},
		{"path behind a code", "GET /abc/x", own, 302, notFoundURL, 0, 1},
		{"expired", "GET /abc", ended, 302, overURL, 1, 0},
		{"expired by HEAD", "HEAD /abc", ended, 302, overURL, 0, 0},
		{"preview of an expired one", "GET /abc+", ended, 410, "", 0, 0},
		{"expired, with a page of its own", "GET /abc", own, 302, own.ExpiredURL, 1, 0},
		{"disabled", "GET /abc", disabled, 410, "", 0, 0},
	} {
		for _, host := range []string{"go.example", ""} { // "" has the default domain's row answer
			s, l := counting(t)
			s.configured(domainRow(host))
			s.put(c.body)
			s.entries[link.Key{Domain: "go.example", Code: "abc"}] = s.entries[link.Key{Code: "abc"}]
			resp := s.get(t, c.request, "Host: "+map[string]string{"": "other.example", "go.example": "Go.Example:80"}[host])
			s.want(t, resp, c.status, "Location: "+c.location)
			if len(l.clicks) != c.clicks || len(l.orphans) != c.orphans {
				t.Errorf("%s on %q: %d clicks, %d orphans, want %d and %d", c.name, host, len(l.clicks), len(l.orphans), c.clicks, c.orphans)
			}
			if c.location != "" {
				s.want(t, resp, 302, "Cache-Control: no-store")
			}
			if looked := strings.Contains(c.request, "abc") || strings.Contains(c.request, "nosuch"); looked {
				s.want(t, resp, c.status, "Cache-Status: waypost-eu; hit; detail=l1")
			}
			if t.Failed() {
				t.Fatalf("%s on %q: %d to %q", c.name, host, resp.StatusCode(), resp.Header.Peek("Location"))
			}
		}
	}
}

func TestADomainsURLsAreNotForOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.configured(domainRow("go.example"))
	s.HomeURL = "https://example.com/everybody"
	s.want(t, s.get(t, "GET /"), 302, "Location: "+s.HomeURL)
	s.want(t, s.get(t, "GET /nosuch"), 404)
	s.configured(map[string]string{feed.DomainRow("go.example"): `{"host":"go.example"}`})
	s.want(t, s.get(t, "GET /", "Host: go.example"), 302, "Location: "+s.HomeURL)
}

// Who cannot be sure that there is no link sends nobody to the page for that.
func TestADomainsPagesOfADegradedEdge(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.configured(domainRow("go.example"))
	s.mark, s.age = redirect.Marked, 5*time.Second
	host := "Host: go.example"
	s.want(t, s.get(t, "GET /", host), 302, "Location: "+homeURL, "Age: 5", "Cache-Status: waypost-eu; hit; ttl=-5; detail=stale")
	s.want(t, s.get(t, "GET /.git/config", host), 404)
	s.entries[link.Key{Domain: "go.example", Code: "abc"}] = &feed.Entry{Epoch: 1, Body: feed.Body{State: feed.Enabled, StartsAt: now + 1}}
	s.want(t, s.get(t, "GET /abc", host), 404)
	s.mark = redirect.Withheld
	s.want(t, s.get(t, "GET /", host), 200)
	s.want(t, s.get(t, "GET /nosuch", host), 503)
}

func TestABlockedHostIsNowhere(t *testing.T) {
	t.Parallel()
	const bad, fine = "https://a.bad.example/", "https://fine.example/"
	for _, c := range []struct {
		name    string
		request string
		body    feed.Body
		status  int
	}{
		{"live", "GET /abc", feed.Body{Target: bad, Clicks: true}, 410},
		{"live by HEAD", "HEAD /abc", feed.Body{Target: bad}, 410},
		{"preview", "GET /abc+", feed.Body{Target: bad}, 410},
		{"permanent", "GET /abc", feed.Body{Target: bad, Status: 301}, 410},
		{"expired to somewhere else", "GET /abc", feed.Body{Target: bad, ExpiresAt: now, ExpiredURL: fine}, 410},
		{"expired", "GET /abc", feed.Body{Target: bad, ExpiresAt: now}, 410},
		{"expired to a blocked host", "GET /abc", feed.Body{Target: fine, ExpiresAt: now, ExpiredURL: bad}, 410},
		{"not expired yet to a blocked host", "GET /abc", feed.Body{Target: fine, ExpiredURL: bad}, 302},
		{"not blocked", "GET /abc", feed.Body{Target: fine}, 302},
		{"not yet", "GET /abc", feed.Body{Target: bad, StartsAt: now + 1}, 404},
		{"limited", "GET /abc", feed.Body{Limited: true, Sites: feed.PackSites(bad)}, 410},
		{"limited by HEAD", "HEAD /abc", feed.Body{Limited: true, Sites: feed.PackSites(bad)}, 410},
		{"preview of a limited one", "GET /abc+", feed.Body{Limited: true, Sites: feed.PackSites(bad)}, 410},
	} {
		s, l := counting(t)
		s.Use = func(context.Context, link.Key, uint64) (feed.Verdict, redirect.Answer, error) {
			t.Errorf("%s: a use was asked for", c.name)
			return 0, redirect.Answer{}, link.ErrUnavailable
		}
		c.body.State = feed.Enabled
		s.put(c.body)
		domain := map[string]string{feed.DomainRow(""): `{"host":"","expired_url":"https://example.com/over"}`}
		s.block(domain, "bad.example")
		for range 2 { // the second time from what the entry keeps
			resp := s.get(t, c.request)
			if s.want(t, resp, c.status); t.Failed() {
				t.Fatalf("%s: %d to %q", c.name, resp.StatusCode(), resp.Header.Peek("Location"))
			}
		}
		if c.status == 410 && (len(l.clicks) != 0 || len(l.orphans) != 0) {
			t.Errorf("%s: counted %v, %v", c.name, l.clicks, l.orphans)
		}
		if c.body.Limited { // asks for a use once it is not blocked
			continue
		}
		s.block(domain, "other.example")
		if resp := s.get(t, "GET /abc"); resp.StatusCode() == 410 {
			t.Errorf("%s: still blocked once it is not", c.name)
		}
	}
}

// An edge of an older release may have stored a limited link without what blocks
// are looked up by: then the use's own answer is judged.
func TestAUseThatLeadsToABlockedHostLeadsNowhere(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(feed.Body{State: feed.Enabled, Limited: true, Clicks: true})
	s.block(nil, "bad.example")
	s.Use = func(_ context.Context, key link.Key, _ uint64) (feed.Verdict, redirect.Answer, error) {
		e := &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: feed.Body{
			State: feed.Enabled, Status: 302, Limited: true, Clicks: true, Target: "https://bad.example/",
		}}
		return feed.UseTaken, redirect.Answer{Entry: e, Tier: redirect.Origin}, nil
	}
	if s.want(t, s.get(t, "GET /abc"), 410, "Cache-Status: waypost-eu; fwd=bypass"); len(l.clicks) != 0 {
		t.Errorf("counted %v", l.clicks)
	}
}

func TestADomainsURLThatIsBlockedIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.block(domainRow("go.example"), "example.com")
	s.entries[link.Key{Domain: "go.example", Code: "abc"}] = &feed.Entry{Epoch: 1, Body: feed.Body{
		State: feed.Enabled, Status: 302, Target: "https://fine.example/", ExpiresAt: now,
	}}
	for path, status := range map[string]int{"/": 200, "/nosuch": 404, "/abc": 410} {
		s.want(t, s.get(t, "GET "+path, "Host: go.example"), status)
	}
}

func TestAUsedUpLinkGoesWhereItsDomainSays(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(feed.Body{State: feed.Enabled, Limited: true, Clicks: true})
	s.configured(map[string]string{feed.DomainRow(""): `{"host":"","expired_url":"` + overURL + `"}`})
	s.Use = func(_ context.Context, key link.Key, _ uint64) (feed.Verdict, redirect.Answer, error) {
		return feed.UsedUp, redirect.Answer{Entry: s.entries[key], Tier: redirect.Origin}, nil
	}
	if s.want(t, s.get(t, "GET /abc"), 302, "Location: "+overURL); len(l.clicks) != 1 {
		t.Errorf("%d clicks, want 1", len(l.clicks))
	}
}

// BenchmarkBlockList is BenchmarkL1Hit where some hosts are blocked.
func BenchmarkBlockList(b *testing.B) {
	h, ctx, end := hot(b, false)
	defer end()
	listed(h)
	b.ReportAllocs()
	for b.Loop() {
		ctx.Response.Reset()
		h.serve(ctx)
	}
}
