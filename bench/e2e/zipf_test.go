package e2e

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"waypost/bench/fleet"
)

const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

// visits are who clicks what: some links are clicked far more than others.
type visits struct {
	links []fleet.Link
	picks []int    // index in links, by click
	total []uint64 // by link
	bots  []uint64
}

// botsEvery is how often a click is a crawler's.
const botsEvery = 7

func newVisits(links []fleet.Link, n int, seed uint64) *visits {
	v := &visits{links: links, picks: make([]int, n), total: make([]uint64, len(links)), bots: make([]uint64, len(links))}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(seed, 0)), 1.1, 1, uint64(len(links)-1))
	for i := range v.picks {
		at := int(zipf.Uint64())
		v.picks[i] = at
		v.total[at]++
		if i%botsEvery == 0 {
			v.bots[at]++
		}
	}
	return v
}

// request is the i-th click's.
func (v *visits) request(i int) fleet.Request {
	pick := func(of ...string) string { return of[i%len(of)] }
	agent := pick(
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
		"curl/8.5.0",
	)
	if i%botsEvery == 0 {
		agent = crawler
	}
	return fleet.Request{Path: v.links[v.picks[i]].Path(), Header: map[string]string{
		"User-Agent":      agent,
		"Referer":         pick("", "https://news.example/a?b=c", "https://search.example/", "android-app://com.example.app/", "no url at all"),
		"Accept-Language": pick("de-DE,de;q=0.9", "en", ""),
	}}
}

// click clicks all of it at two edges at once, each a half.
func (v *visits) click(t *testing.T, edges []*fleet.Edge) {
	t.Helper()
	half := len(v.picks) / len(edges)
	at := map[*fleet.Edge]int{edges[0]: 0, edges[1]: half}
	atEvery(edges, func(e *fleet.Edge) {
		noErrors(t, e.Run(t.Context(), fleet.Load{
			Conns: 8, N: half,
			Request: func(i int) fleet.Request { return v.request(at[e] + i) },
			Check:   func(i int, r fleet.Reply) error { return leads(r, v.links[v.picks[at[e]+i]].Target) },
		}))
	})
}

func TestManyClicksOfManyLinksOnTwoEdgesAreCountedExactlyAndRanked(t *testing.T) {
	t.Parallel()
	fleet.OneDay(t, long(2*time.Minute, 20*time.Minute))
	c := count(t, start(t, fleet.Spec{KeepState: true, Origins: 2}))
	v := newVisits(numbered(t, c.api, "zipf", 1000), long(20_000, 1_000_000), 1)
	c.Settle(t)
	began := time.Now()
	v.click(t, c.Edges)
	took := time.Since(began)
	c.settle(t)
	t.Logf("%d clicks in %v, all counted after %v", len(v.picks), took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	c.hasEach(t, v.links, func(i int) (total, bots uint64) { return v.total[i], v.bots[i] })
	c.ranked(t, v)
}

// ranked sees that the lists of links are in the order of their clicks.
func (c *counting) ranked(t *testing.T, v *visits) {
	t.Helper()
	of := map[string]uint64{}
	for i, l := range v.links {
		of[l.Code] = v.total[i]
	}
	most := slices.Clone(v.total)
	slices.SortFunc(most, func(a, b uint64) int { return cmp.Compare(b, a) })
	const listed = 100
	top, err := c.api.Top(t.Context(), listed)
	if err != nil || len(top) != listed {
		t.Fatalf("got %d top links, %v, want %d", len(top), err, listed)
	}
	for i, l := range top {
		if l.Clicks != most[i] || l.Clicks != of[l.Code] {
			t.Errorf("top link %d: got %s with %d clicks, want %d, and it has %d", i, l.Code, l.Clicks, most[i], of[l.Code])
		}
	}
	cursor, at := "", 0
	for range 3 {
		var codes []string
		if codes, cursor, err = c.api.List(t.Context(), "sort=clicks&limit=100&cursor="+cursor); err != nil {
			t.Fatal(err)
		}
		for _, code := range codes {
			if of[code] != most[at] {
				t.Errorf("link %d by clicks: got %s with %d clicks, want %d", at, code, of[code], most[at])
			}
			at++
		}
	}
	if at != 300 {
		t.Errorf("got %d links on three pages, want 300", at)
	}
	if answer, err := c.api.Do(t.Context(), http.MethodGet, "/links?sort=clicked", nil); err != nil || answer.Status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown order: got %d, %v, want 422", answer.Status, err)
	}
}
