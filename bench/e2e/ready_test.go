package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"waypost/bench/fleet"
)

// awaitOK waits until /readyz of an edge sums up to ok, and asks for a link right after: it must be answered unmarked.
func awaitOK(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	fleet.Await(t, e.Name+" is ok", func() error {
		r, err := e.Ready(t.Context())
		if err == nil && r.Status != "ok" {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
	if err := freshAndRight(l, e.Get(t, l.Path())); err != nil {
		t.Errorf("%s, which is ok: %v", e.Name, err)
	}
}

func TestReadyMeansThatAnswersGoOutUnmarked(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{ProxyEdges: true, KeepState: true, Edges: []string{"eu", "us"}})
	api := f.API(t)
	away := f.Edges[0]
	paths := append(away.ToOrigins, away.ToNATS)
	links := numbered(t, api, "ready", 32) // many shards miss something
	last := links[len(links)-1]
	for _, e := range f.Edges {
		awaitOK(t, e, last)
	}
	for _, p := range paths {
		p.Cut()
	}
	away.AwaitPart(t, "leases", "degraded", http.StatusOK, "degraded")
	for i := range links {
		links[i] = api.MustPatch(t, links[i], fleet.Fields{"title": "missed"})
	}
	for _, p := range paths {
		p.Heal()
	}
	awaitOK(t, away, links[0])
	for _, e := range f.Edges {
		e.Stop(t)
		e.Launch(t)
		awaitOK(t, e, last)
	}
}
