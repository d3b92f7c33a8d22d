package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"waypost/bench/fleet"
)

// The states that each link of TestNoEdgeIsWrong goes through, one a round. A state is told by its number in the
// target, or by the status of a link that leads nowhere.
var states = []struct {
	name    string
	fields  func(target string) fleet.Fields // nil: the link is deleted
	status  int
	forever bool
}{
	{"made", nil, http.StatusFound, false},
	{"changed", func(target string) fleet.Fields { return fleet.Fields{"target": target} }, http.StatusFound, false},
	{"disabled", func(string) fleet.Fields { return fleet.Fields{"enabled": false} }, http.StatusGone, false},
	{"enabled", func(target string) fleet.Fields { return fleet.Fields{"enabled": true, "target": target} }, http.StatusFound, false},
	{"expired", func(string) fleet.Fields { return fleet.Fields{"expires_at": "2020-01-01T00:00:00Z"} }, http.StatusGone, false},
	{"revived", func(target string) fleet.Fields { return fleet.Fields{"expires_at": nil, "target": target} }, http.StatusFound, false},
	{"deleted", nil, http.StatusNotFound, true},
}

// history is what is known of one link while it is read and changed at once.
type history struct {
	link    fleet.Link
	begun   atomic.Int64   // the last state that was asked for
	applied atomic.Int64   // the last state that every edge has applied
	seen    []atomic.Int64 // by edge: the newest state that was surely served
}

func (h *history) target(n int64) string {
	return fmt.Sprintf("https://example.com/%s/%d", h.link.Code, n)
}

// judge finds the states a reply may stand for between the newest that was known to be served or applied before the
// request, and the newest that was begun after it; there must be one.
func (h *history) judge(r fleet.Reply, from int64) (state int64, err error) {
	for n := from; n <= h.begun.Load(); n++ {
		if r.Status == states[n].status && (r.Status != http.StatusFound || r.Location() == h.target(n)) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s: got %d to %q (%s), older than state %d", h.link.Code, r.Status, r.Location(), r.Header.Get("Cache-Status"), from)
}

// read asks an edge and judges its answer.
func (h *history) read(conn *fleet.Conn, edge int) error {
	from := max(h.applied.Load(), h.seen[edge].Load())
	r, err := conn.Ask(fleet.Request{Path: h.link.Path()})
	if err != nil {
		return err
	}
	n, err := h.judge(r, from)
	if err != nil {
		return err
	}
	for {
		old := h.seen[edge].Load()
		if n <= old || h.seen[edge].CompareAndSwap(old, n) {
			return nil
		}
	}
}

func TestNoEdgeIsWrongOnceItHasAppliedAChangeNorGoesBack(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	api := f.API(t)
	links := make([]*history, 200)
	for i, l := range api.MustBulk(t, len(links), func(int) fleet.Fields { return fleet.Fields{"target": "https://example.com/"} }) {
		links[i] = &history{link: l, seen: make([]atomic.Int64, len(f.Edges))}
	}
	change(t, api, links, func(h *history) fleet.Fields { return fleet.Fields{"target": h.target(0)} })
	f.Settle(t)

	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var reads atomic.Int64
	for edge, e := range f.Edges {
		for range 3 {
			conn := e.Dial(t)
			readers.Go(func() {
				for ctx.Err() == nil {
					if err := links[rand.N(len(links))].read(conn, edge); err != nil {
						t.Errorf("while changing: %s: %v", e.Name, err)
						return
					}
					reads.Add(1)
				}
			})
		}
	}
	for n := range int64(len(states)) {
		if n > 0 {
			round(t, api, links, n)
		}
		f.Settle(t)
		for _, h := range links {
			h.applied.Store(n)
		}
		atEvery(f.Edges, func(e *fleet.Edge) { exactly(t, e, links, n) })
	}
	stop()
	readers.Wait()
	t.Logf("%d reads while changing", reads.Load())
}

// round takes all links to state n.
func round(t *testing.T, api *fleet.API, links []*history, n int64) {
	t.Helper()
	for _, h := range links {
		h.begun.Store(n)
	}
	if states[n].forever {
		forAll(t, links, func(h *history) error { return api.Delete(t.Context(), h.link) })
		return
	}
	change(t, api, links, func(h *history) fleet.Fields { return states[n].fields(h.target(n)) })
}

func change(t *testing.T, api *fleet.API, links []*history, fields func(h *history) fleet.Fields) {
	t.Helper()
	forAll(t, links, func(h *history) error {
		_, err := api.Patch(t.Context(), h.link, fields(h))
		return err
	})
}

// forAll runs do for every link, eight at once.
func forAll(t *testing.T, links []*history, do func(h *history) error) {
	t.Helper()
	const workers = 8
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < len(links); i += workers {
				errs[w] = errors.Join(errs[w], do(links[i]))
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// exactly reads all links at an edge that has applied state n and no later one.
func exactly(t *testing.T, e *fleet.Edge, links []*history, n int64) {
	t.Helper()
	noErrors(t, e.Run(t.Context(), fleet.Load{
		Conns: 4, N: 2 * len(links),
		Request: func(i int) fleet.Request { return fleet.Request{Path: links[i%len(links)].link.Path()} },
		Check: func(i int, r fleet.Reply) error {
			if _, err := links[i%len(links)].judge(r, n); err != nil {
				return fmt.Errorf("after %q: %w", states[n].name, err)
			}
			return nil
		},
	}))
}

func TestAliasThatWas404WorksOnceMadeAndAgainOnceMadeAnew(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{})
	f.AwaitFilters(t)
	api := f.API(t)
	const n = 60
	alias := func(i int) string { return fmt.Sprintf("later-%d", i) }
	read := func(what string, check func(i int, r fleet.Reply) error) {
		atEvery(f.Edges, func(e *fleet.Edge) {
			for _, err := range e.Run(t.Context(), fleet.Load{
				Conns: 4, N: 3 * n, Check: check, // three times: from beyond L1 and from it
				Request: func(i int) fleet.Request { return fleet.Request{Path: "/" + alias(i%n)} },
			}) {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	absent := func(_ int, r fleet.Reply) error { return isStatus(r, http.StatusNotFound) }
	for _, life := range []string{"first", "second"} {
		read("before its "+life+" life", absent)
		made := api.MustBulk(t, n, func(i int) fleet.Fields {
			return fleet.Fields{"alias": alias(i), "target": targetOf(life, i)}
		})
		f.Settle(t)
		read("in its "+life+" life", func(i int, r fleet.Reply) error { return leads(r, targetOf(life, i%n)) })
		for _, l := range made {
			api.MustDelete(t, l)
		}
		f.Settle(t)
		read("after its "+life+" life", absent)
	}
}
