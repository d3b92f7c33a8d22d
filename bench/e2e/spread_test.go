package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"waypost/bench/fleet"
)

// Without NATS a change goes by probes and what is fetched then, to whichever origin it was written.
func TestWritesReachEveryEdgeWithoutNATSFromTwoOrigins(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{Origins: 2})
	links := numbered(t, f.API(t), "natsless", 20)
	atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 2, links) })
	apis := []*fleet.API{f.APIOf(t, f.Origins[0]), f.APIOf(t, f.Origins[1])}
	// write retargets a link and has every edge asked for it at once. An edge that did not acknowledge may show the old
	// form, marked; after a moment it has the new one.
	write := func(name string, i int) {
		l := &links[i]
		old := l.Target
		r := retarget(t, apis[i%2], l, targetOf(name, i))
		if r.Ack != "edges" || r.Acked > r.Edges {
			t.Errorf("%s %d: receipt %+v", name, i, r)
		}
		for _, e := range f.Edges {
			fleet.Await(t, e.Name+" has the change", func() error {
				got := e.Get(t, l.Path())
				err := leads(got, l.Target)
				if err != nil && (got.Status == http.StatusFound && !marked(got) || r.Acked == len(f.Edges) || leads(got, old) != nil) {
					t.Fatalf("%s: %s %d after receipt %+v: %v", e.Name, name, i, r, err)
				}
				return err
			})
		}
	}
	f.NATS.Pause() // all connections stand, nothing comes through
	for i := range 4 {
		write("paused", i)
	}
	f.NATS.Kill()
	joined(t, apis[0], len(f.Edges))
	joined(t, apis[1], len(f.Edges))
	for i := range links {
		write("killed", i)
	}
	if err := f.NATS.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	parts(t, f, "nats", "ok", "ok")
	joined(t, apis[0], len(f.Edges))
	write("back", 0)
	neverStale(t, f)
}

func TestEpochBumpResetsEveryEdgeAndNoLinkIsWrong(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{})
	api := f.API(t)
	links := numbered(t, api, "epoch", 40)
	atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 2, links) })
	var done atomic.Bool
	var readers sync.WaitGroup
	var reads atomic.Int64
	for _, e := range f.Edges {
		conn := e.Dial(t)
		readers.Go(func() {
			for i := 0; !done.Load(); i++ {
				l := links[i%len(links)]
				r, err := conn.Ask(fleet.Request{Path: l.Path()})
				if err == nil && r.Status != http.StatusServiceUnavailable {
					err = leads(r, l.Target)
				}
				if err != nil {
					t.Errorf("%s, during the bump: %v", e.Name, err)
					return
				}
				reads.Add(1)
			}
		})
	}
	if got := f.Origins[0].Command(t, "epoch", "bump"); got != "2" {
		t.Errorf("epoch bump printed %q, want 2", got)
	}
	for _, e := range f.Edges {
		fleet.Await(t, e.Name+" is in the new epoch", func() error {
			m, err := e.Metrics(t.Context())
			if err != nil {
				return err
			}
			if got, err := m.Sum("waypost_edge_epoch"); err != nil || got != 2 {
				return fmt.Errorf("epoch %v, %w", got, err)
			}
			return nil
		})
	}
	joined(t, api, len(f.Edges))
	done.Store(true)
	readers.Wait()
	if reads.Load() == 0 {
		t.Error("nothing was read during the bump")
	}
	f.Settle(t)
	for _, e := range f.Edges {
		each(t, e, "old", links, freshAndRight)
	}
	for i := range links {
		r := retarget(t, api, &links[i], targetOf("second-epoch", i))
		if r.Edges != len(f.Edges) {
			t.Errorf("receipt %+v, want %d edges", r, len(f.Edges))
		}
	}
	for _, e := range f.Edges {
		each(t, e, "changed", links, freshAndRight)
	}
	neverStale(t, f)
}
