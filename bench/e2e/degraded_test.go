package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"waypost/bench/fleet"
)

var staleStatus = regexp.MustCompile(`^waypost-(eu|us); hit; ttl=-(\d+); detail=stale$`)

// world is what edges are cut off with.
type world struct {
	open, strict    []fleet.Link // of class available and strict
	changed         []fleet.Link // their targets are the new ones
	deleted         []fleet.Link
	unknown, absent string // never asked for, and answered 404 before
}

// newWorld makes the links and has every edge of running answer each of them, in its old form too.
func newWorld(t *testing.T, f *fleet.Fleet, running []*fleet.Edge) *world {
	t.Helper()
	api := f.API(t)
	const n = 8
	w := &world{
		open: numbered(t, api, "open", n), changed: numbered(t, api, "old", n), deleted: numbered(t, api, "deleted", n),
		strict: api.MustBulk(t, n, func(i int) fleet.Fields {
			return fleet.Fields{"target": targetOf("strict", i), "class": "strict"}
		}),
		unknown: "/" + unknownCode(), absent: "/" + unknownCode(),
	}
	atEvery(running, func(e *fleet.Edge) {
		for _, links := range [][]fleet.Link{w.open, w.strict, w.changed, w.deleted} {
			allLead(t, e, 2, links)
		}
		if err := isStatus(e.Get(t, w.absent), http.StatusNotFound); err != nil {
			t.Errorf("%s: absent code: %v", e.Name, err)
		}
	})
	return w
}

// change is what happens just before the cut: every edge has acknowledged it.
func (w *world) change(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	api := f.API(t)
	for i := range w.changed {
		retarget(t, api, &w.changed[i], targetOf("new", i))
		api.MustDelete(t, w.deleted[i])
	}
}

// cutOff ends all that an edge hears of origins.
func cutOff(f *fleet.Fleet) {
	for _, o := range f.Origins {
		o.Kill()
	}
	f.NATS.Kill()
}

// reconnect ends a cut.
func reconnect(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	for _, o := range f.Origins {
		o.Start(t)
	}
	if err := f.NATS.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// isMarked says why a reply does not say of itself that it may be out of date.
func isMarked(r fleet.Reply) error {
	status := staleStatus.FindStringSubmatch(r.Header.Get("Cache-Status"))
	switch {
	case status == nil:
		return fmt.Errorf("Cache-Status is %q, want it marked", r.Header.Get("Cache-Status"))
	case r.Header.Get("Age") != status[2]:
		return fmt.Errorf("Age is %q beside %q", r.Header.Get("Age"), status[0])
	case r.Header.Get("Cache-Control") != "no-store":
		return fmt.Errorf("Cache-Control is %q, want no-store", r.Header.Get("Cache-Control"))
	}
	return nil
}

// isWithheld says why a reply is no 503 that tells when to come again.
func isWithheld(r fleet.Reply) error {
	if err := isStatus(r, http.StatusServiceUnavailable); err != nil {
		return err
	}
	if r.Header.Get("Retry-After") == "" {
		return errors.New("a 503 without Retry-After")
	}
	return nil
}

// each asks an edge for all links by one connection.
func each(t *testing.T, e *fleet.Edge, what string, links []fleet.Link, check func(l fleet.Link, r fleet.Reply) error) {
	t.Helper()
	conn := e.Dial(t)
	for _, l := range links {
		r, err := conn.Ask(fleet.Request{Path: l.Path()})
		if err == nil {
			err = check(l, r)
		}
		if err != nil {
			t.Errorf("%s: %s link %s: %v", e.Name, what, l.Code, err)
			return
		}
	}
}

// awaitMarked waits until the edge marks what it answers; before that and after, it must be right.
func awaitMarked(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	fleet.Await(t, e.Name+" marks its answers", func() error {
		r := e.Get(t, l.Path())
		if err := leads(r, l.Target); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		return isMarked(r)
	})
}

func markedAndRight(l fleet.Link, r fleet.Reply) error {
	return errors.Join(leads(r, l.Target), isMarked(r))
}

func freshAndRight(l fleet.Link, r fleet.Reply) error {
	if marked(r) {
		return errors.New("it is marked")
	}
	return leads(r, l.Target)
}

func withheld(_ fleet.Link, r fleet.Reply) error { return isWithheld(r) }

// nothingElse checks what is dark at an edge that is cut off, and that no 404 is invented.
func (w *world) nothingElse(t *testing.T, e *fleet.Edge) {
	t.Helper()
	each(t, e, "strict", w.strict, withheld)
	each(t, e, "deleted", w.deleted, withheld)
	for _, path := range []string{w.unknown, w.absent} {
		if err := isWithheld(e.Get(t, path)); err != nil {
			t.Errorf("%s: code of no link: %v", e.Name, err)
		}
	}
}

// recovered waits until an edge answers unmarked, and checks everything then.
func (w *world) recovered(t *testing.T, e *fleet.Edge) {
	t.Helper()
	fleet.Await(t, e.Name+" answers unmarked again", func() error {
		r := e.Get(t, w.open[0].Path())
		if marked(r) {
			return errors.New(r.Header.Get("Cache-Status"))
		}
		return leads(r, w.open[0].Target)
	})
	each(t, e, "open", w.open, freshAndRight)
	each(t, e, "strict", w.strict, freshAndRight)
	each(t, e, "changed", w.changed, freshAndRight)
	allAnswer(t, e, w.deleted, http.StatusNotFound)
}

func TestEdgeCutOffMarksWhatItHoldsAndInventsNothing(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{})
	w := newWorld(t, f, f.Edges)
	w.change(t, f)
	cutOff(f)
	atEvery(f.Edges, func(e *fleet.Edge) {
		awaitMarked(t, e, w.open[0])
		each(t, e, "open", w.open, markedAndRight)
		each(t, e, "changed", w.changed, func(l fleet.Link, r fleet.Reply) error {
			if isWithheld(r) == nil {
				return nil // it need not hold the new form
			}
			return markedAndRight(l, r)
		})
		w.nothingElse(t, e)
	})
	parts(t, f, "origin", "down", "degraded")
	reconnect(t, f)
	atEvery(f.Edges, func(e *fleet.Edge) { w.recovered(t, e) })
	neverStale(t, f)
}

// The second edge starts without any origin to ask. What its region's Redis holds is all that it knows.
func TestEdgeStartedWhileCutOffMarksWhatItsRegionHolds(t *testing.T) {
	t.Parallel()
	f := prepare(t, watched(fleet.Spec{Edges: []string{"eu", "eu"}}))
	running, late := f.Edges[0], f.Edges[1]
	f.Origins[0].Start(t)
	running.Start(t)
	f.Settle(t)
	w := newWorld(t, f, []*fleet.Edge{running})
	awaitStored(t, redisOf(t, f.Redis["eu"]), slices.Concat(w.open, w.strict))
	cutOff(f)
	late.Start(t)
	// It learns the epoch from the first entry that it meets, and answers with it.
	each(t, late, "open", w.open, markedAndRight)
	each(t, late, "strict", w.strict, withheld)
	for _, path := range []string{w.unknown, w.absent} {
		if err := isWithheld(late.Get(t, path)); err != nil {
			t.Errorf("%s: code of no link: %v", late.Name, err)
		}
	}
	reconnect(t, f)
	w.change(t, f)
	atEvery(f.Edges, func(e *fleet.Edge) { w.recovered(t, e) })
	neverStale(t, f)
}
