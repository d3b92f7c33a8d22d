package e2e

import (
	"fmt"
	"sync"
	"testing"

	"waypost/bench/fleet"
)

// counting is a fleet whose clicks a test counts. It is the test's goroutine's.
type counting struct {
	*fleet.Fleet
	api  *fleet.API
	last fleet.Link // is clicked last, see settle
	n    uint64     // clicks of it
}

// count starts to count on a fleet that runs.
func count(t *testing.T, f *fleet.Fleet) *counting {
	t.Helper()
	c := &counting{Fleet: f, api: f.API(t)}
	c.last = c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/last"})
	c.Settle(t)
	return c
}

// settle waits until all that edges have counted so far shows in statistics: these, or all. The clicks of an edge arrive
// in the order in which they were made, so that one more click tells; what earlier runs of the edge left, and what it
// counted in memory, it says itself.
func (c *counting) settle(t *testing.T, edges ...*fleet.Edge) {
	t.Helper()
	if len(edges) == 0 {
		edges = c.Edges
	}
	for _, e := range edges {
		oneClick(t, e, c.last, nil)
		c.n++
	}
	if s := c.api.AwaitClicks(t, c.last, c.n); s.Clicks.Total != c.n {
		t.Errorf("%s: got %d clicks, want %d", c.last.Code, s.Clicks.Total, c.n)
	}
	for _, e := range edges {
		e.AwaitShipped(t)
	}
}

// stats are a link's statistics, which must add up.
func (c *counting) stats(t *testing.T, l fleet.Link) fleet.Stats {
	t.Helper()
	s, err := c.api.Stats(t.Context(), l, nil)
	if err == nil {
		err = s.Sum()
	}
	if err != nil {
		t.Fatalf("statistics of %s: %v", l.Code, err)
	}
	return s
}

// has fails the test unless a link has exactly so many clicks, those of bots included.
func (c *counting) has(t *testing.T, l fleet.Link, total, bots uint64) fleet.Stats {
	t.Helper()
	s := c.stats(t, l)
	if want := (fleet.Tally{Total: total, Human: total - bots, Bot: bots}); s.Clicks != want {
		t.Errorf("%s: got %+v clicks, want %+v", l.Code, s.Clicks, want)
	}
	return s
}

// hasEach is has for many links at once.
func (c *counting) hasEach(t *testing.T, links []fleet.Link, want func(i int) (total, bots uint64)) {
	t.Helper()
	const readers = 8
	var all sync.WaitGroup
	for n := range readers {
		all.Go(func() {
			for i := n; i < len(links); i += readers {
				total, bots := want(i)
				s, err := c.api.Stats(t.Context(), links[i], nil)
				if err == nil {
					err = s.Sum()
				}
				if err == nil && (s.Clicks.Total != total || s.Clicks.Bot != bots || s.Hours() != total) {
					err = fmt.Errorf("got %+v clicks and %d in all hours, want %d of which %d are bots'", s.Clicks, s.Hours(), total, bots)
				}
				if err != nil {
					t.Errorf("link %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// oneClick is one click, which leads where the link does.
func oneClick(t *testing.T, e *fleet.Edge, l fleet.Link, header map[string]string) {
	t.Helper()
	if err := leads(e.Must(t, fleet.Request{Path: l.Path(), Header: header}), l.Target); err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
}

// clicks are n clicks of a link over some connections.
func clicks(t *testing.T, e *fleet.Edge, l fleet.Link, conns, n int) {
	t.Helper()
	noErrors(t, e.Run(t.Context(), fleet.Load{
		Conns: conns, N: n,
		Request: func(int) fleet.Request { return fleet.Request{Path: l.Path()} },
		Check:   func(_ int, r fleet.Reply) error { return leads(r, l.Target) },
	}))
}
