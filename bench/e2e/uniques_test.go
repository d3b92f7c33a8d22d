package e2e

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// trusting are edges that believe the address of proxy.
func trusting(edges ...string) fleet.Spec {
	return fleet.Spec{KeepState: true, Edges: edges, EdgeEnv: map[string]string{"WAYPOST_TRUSTED_PROXIES": proxy.String() + "/32"}}
}

// visitors are one click each of n visitors of a link at an edge.
func visitors(t *testing.T, e *fleet.Edge, l fleet.Link, n int, agent string) {
	t.Helper()
	noErrors(t, e.Run(t.Context(), fleet.Load{
		Conns: 8, N: n, From: proxy,
		Request: func(i int) fleet.Request {
			from := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
			return fleet.Request{Path: l.Path(), Header: map[string]string{"X-Forwarded-For": from.String(), "User-Agent": agent}}
		},
		Check: func(_ int, r fleet.Reply) error { return leads(r, l.Target) },
	}))
}

func TestVisitorOfTwoEdgesIsOneOnADayAndAThousandAreExact(t *testing.T) {
	t.Parallel()
	fleet.OneDay(t, long(time.Minute, 5*time.Minute))
	c := count(t, start(t, trusting("eu", "us")))
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/uniques"})
	c.Settle(t)
	unique := func(want uint64) {
		t.Helper()
		c.settle(t)
		s := c.stats(t, l)
		if s.UniqueToday != want || s.UniquesByDay[len(s.UniquesByDay)-1].Count != want {
			t.Errorf("got %d visitors today and %v by day, want %d, of %+v clicks", s.UniqueToday, s.UniquesByDay, want, s.Clicks)
		}
	}
	const n = 999
	visitors(t, c.Edges[0], l, n, "A")
	unique(n)
	visitors(t, c.Edges[1], l, n, "A")
	visitors(t, c.Edges[0], l, n, "A")
	visitors(t, c.Edges[1], l, n, crawler)
	unique(n)
	visitors(t, c.Edges[1], l, 1, "B") // another one at the same address
	unique(n + 1)
	c.has(t, l, 4*n+1, n)
	c.many(t, long(0, 10_000))
}

// many sees that beyond a thousand visitors a count is near.
func (c *counting) many(t *testing.T, n int) {
	t.Helper()
	if n == 0 {
		return
	}
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/many"})
	for _, e := range c.Edges {
		visitors(t, e, l, n, "A")
	}
	c.settle(t)
	got := float64(c.has(t, l, 2*uint64(n), 0).UniqueToday)
	off := math.Abs(got-float64(n)) / float64(n)
	t.Logf("%v of %d visitors: %.2f %%", got, n, 100*off)
	if off > 0.02 {
		t.Errorf("got %v visitors, want %d within 2 %%", got, n)
	}
}
