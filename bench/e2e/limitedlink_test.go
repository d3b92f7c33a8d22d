package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"waypost/bench/fleet"
)

// used is what became of many visitors of a limited link at once.
type used struct{ led, gone, moved atomic.Int64 }

// use sends n visitors to each edge at once, every one by a connection of its own.
func use(t *testing.T, edges []*fleet.Edge, l fleet.Link, n int) *used {
	t.Helper()
	u := &used{}
	var ready sync.WaitGroup
	ready.Add(n * len(edges))
	atEvery(edges, func(e *fleet.Edge) {
		noErrors(t, e.Run(t.Context(), fleet.Load{
			Conns: n, N: n,
			Ready:   func() { ready.Done(); ready.Wait() },
			Request: func(int) fleet.Request { return fleet.Request{Path: l.Path()} },
			Check: func(_ int, r fleet.Reply) error {
				switch {
				case r.Status == http.StatusFound && r.Location() == l.Target:
					u.led.Add(1)
				case r.Status == http.StatusFound && r.Location() == movedTo:
					u.moved.Add(1)
				case r.Status == http.StatusGone && r.Location() == "":
					u.gone.Add(1)
				default:
					return fmt.Errorf("got %d to %q", r.Status, r.Location())
				}
				if got, want := r.Header.Get("Cache-Status"), "waypost-"+e.Region+"; fwd=bypass"; got != want {
					return fmt.Errorf("Cache-Status: got %q, want %q", got, want)
				}
				return nil
			},
		}))
	})
	return u
}

const movedTo = "https://example.com/used-up"

func TestLimitedLinkLeadsOnAsOftenAsItMayAndShowsNobodyElseWhere(t *testing.T) {
	t.Parallel()
	c := count(t, start(t, fleet.Spec{Origins: 2, KeepState: true, ProxyEdges: true}))
	limited := func(most int, more fleet.Fields) fleet.Link {
		fields := fleet.Fields{"target": fmt.Sprintf("https://secret.example/%d", most), "max_clicks": most}
		maps.Copy(fields, more)
		return c.api.MustCreate(t, fields)
	}
	one, some := limited(1, nil), limited(20, nil)
	moved := limited(2, fleet.Fields{"expired_url": movedTo})
	c.Settle(t)
	for _, l := range []fleet.Link{one, some, moved} {
		c.lookers(t, l)
	}
	for _, x := range []struct {
		link             fleet.Link
		led, gone, moved int64
		counted          uint64
	}{
		{one, 1, 49, 0, 1},
		{some, 20, 30, 0, 20},
		{moved, 2, 0, 48, 50},
	} {
		u := use(t, c.Edges, x.link, 25)
		if u.led.Load() != x.led || u.gone.Load() != x.gone || u.moved.Load() != x.moved {
			t.Errorf("%s: %d led on, %d gone, %d moved, want %d, %d, %d",
				x.link.Target, u.led.Load(), u.gone.Load(), u.moved.Load(), x.led, x.gone, x.moved)
		}
	}
	c.lookers(t, one) // nor do they see that it is used up
	// More uses, and an end of the limit.
	one = c.api.MustPatch(t, one, fleet.Fields{"max_clicks": 4})
	if u := use(t, c.Edges, one, 5); u.led.Load() != 3 || u.gone.Load() != 7 {
		t.Errorf("raised from 1 to 4: %d led on, %d gone, want 3, 7", u.led.Load(), u.gone.Load())
	}
	some = c.api.MustPatch(t, some, fleet.Fields{"max_clicks": nil})
	for _, e := range c.Edges {
		oneClick(t, e, some, nil)
	}
	c.cutOff(t, moved)
	c.settle(t)
	c.has(t, one, 4, 0)
	c.has(t, some, 22, 0)
	c.has(t, moved, 50, 0)
}

// lookers sees that who takes no use gets a page without the target.
func (c *counting) lookers(t *testing.T, l fleet.Link) {
	t.Helper()
	for name, r := range map[string]fleet.Request{
		"HEAD":     {Path: l.Path(), Method: http.MethodHead},
		"preview":  {Path: l.Path() + "+"},
		"crawler":  {Path: l.Path(), Header: map[string]string{"User-Agent": crawler}},
		"prefetch": {Path: l.Path(), Header: map[string]string{"Sec-Purpose": "prefetch;prerender"}},
	} {
		for _, e := range c.Edges {
			got := e.Must(t, r)
			if err := isStatus(got, http.StatusOK); err != nil {
				t.Errorf("%s, %s: %v", e.Name, name, err)
			}
			if strings.Contains(got.Body, "secret.example") || strings.Contains(fmt.Sprint(got.Header), "secret.example") {
				t.Errorf("%s, %s: the answer tells the target: %v %s", e.Name, name, got.Header, got.Body)
			}
		}
	}
}

// cutOff sees that nobody is led on while no origin is reached.
func (c *counting) cutOff(t *testing.T, l fleet.Link) {
	t.Helper()
	for _, e := range c.Edges {
		for _, p := range e.ToOrigins {
			p.Cut()
		}
		r := e.Get(t, l.Path())
		if err := isStatus(r, http.StatusServiceUnavailable); err != nil || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s without origins: %v, %v", e.Name, err, r.Header)
		}
		for _, p := range e.ToOrigins {
			p.Heal()
		}
		e.AwaitPart(t, "origin", "ok", http.StatusOK, "ok")
	}
}
