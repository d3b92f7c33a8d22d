package e2e

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// awaitSaved waits until the edge has saved its positions after the call. It saves only what has moved, so something is
// written meanwhile.
func awaitSaved(t *testing.T, api *fleet.API, e *fleet.Edge) {
	t.Helper()
	api.MustCreate(t, fleet.Fields{"target": "https://example.com/moved"})
	after := time.Now()
	fleet.Await(t, e.Name+" has saved its positions", func() error {
		info, err := os.Stat(filepath.Join(e.State, "floors"))
		if err == nil && !info.ModTime().After(after) {
			err = errors.New("saved before")
		}
		return err
	})
}

func TestEdgesWithSavedPositionsRestartWarmAfterAStopAndAfterAKill(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{KeepState: true})
	api := f.API(t)
	const n = 60
	links := numbered(t, api, "warm", n+20)
	kept, changed, deleted := links[:n], links[n:n+10], links[n+10:]
	for _, e := range f.Edges {
		allLead(t, e, 4, links)
		awaitStored(t, redisOf(t, f.Redis[e.Region]), links)
	}
	stopped, killed := f.Edges[0], f.Edges[1]
	awaitSaved(t, api, killed)
	killed.Kill()
	stopped.Stop(t)
	for i := range changed {
		changed[i] = api.MustPatch(t, changed[i], fleet.Fields{"target": targetOf("while-down", i)})
		api.MustDelete(t, deleted[i])
	}
	for _, e := range f.Edges {
		e.Start(t)
	}
	f.Settle(t)
	for _, e := range f.Edges {
		fleet.Await(t, e.Name+" answers unmarked", func() error {
			if r := e.Get(t, changed[0].Path()); marked(r) {
				return errors.New(r.Header.Get("Cache-Status"))
			}
			return nil
		})
		warm := 0
		each(t, e, "kept", kept, func(l fleet.Link, r fleet.Reply) error {
			if r.Tier() == "l2" {
				warm++
			}
			return freshAndRight(l, r)
		})
		if warm < n*9/10 {
			t.Errorf("%s: %d of %d first answers came from L2, want nearly all", e.Name, warm, n)
		}
		each(t, e, "changed", changed, freshAndRight)
		allAnswer(t, e, deleted, http.StatusNotFound)
	}
	neverStale(t, f)
}
