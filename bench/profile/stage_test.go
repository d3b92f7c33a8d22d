package profile

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
)

// conns are kept alive, each a client of its own.
const conns = 64

// edgeCore is that of the edge, loadCore that of all else.
const (
	loadCore = 0
	edgeCore = 1
)

// stage is an edge with its fleet, and the load that asks it for a work.
type stage struct {
	*measure.Run
	work Work
	edge *fleet.Edge
	load *load.Generator
	dir  string // of the profiles
}

// newStage starts an edge with all features on that knows the work's links, and a load that has asked for all of it once.
// A small run goes without a state folder: an edge that was built with the race detector needs more than a gigabyte to
// save its positions.
func newStage(t *testing.T, r *measure.Run, w Work) *stage {
	t.Helper()
	if r.Full() {
		fleet.PinHere(t, loadCore)
	}
	f := fleet.Start(t, fleet.Spec{
		Binaries: binaries, Edges: []string{"eu"},
		EdgeEnv: map[string]string{
			"GOMAXPROCS": "1", "WAYPOST_LIMIT_MODE": "async",
			"WAYPOST_LIMIT_RATE": "1000000", "WAYPOST_LIMIT_BURST": "1000000",
		},
		OneEdgeEnv: []map[string]string{w.Env},
		// An edge that is kept too busy to renew its leases would answer 503 to unknown codes.
		OriginEnv: map[string]string{"WAYPOST_STALE_BOUND": "30s"},
		KeepState: r.Full(),
	})
	s := &stage{Run: r, work: w, edge: f.Edges[0], dir: t.TempDir()}
	if r.Full() {
		s.edge.Pin(t, edgeCore)
		s.dir = filepath.Join(resultsDir, "profile")
	}
	links := f.API(t).MustBulk(t, min(w.Links, r.Times(1000, w.Links)), func(i int) fleet.Fields {
		return fleet.Fields{"alias": fmt.Sprintf("c%06x", i), "target": fmt.Sprintf("https://example.com/somewhere/to/go/%06d?with=a&query=b", i)}
	})
	f.Settle(t)
	f.AwaitFilters(t)
	asks := w.visits(rand.New(rand.NewPCG(1, 1)), links, r.Times(512, w.Asks))
	s.load = generator(t, load.Plan{Addr: s.edge.Addr, Conns: r.Times(4, conns), Asks: asks})
	for answers := 0; answers < len(asks); {
		got, err := s.load.Closed(t.Context(), r.Lasting(10*time.Millisecond, time.Second))
		if err != nil {
			t.Fatal(err)
		}
		answers += got.Answers
	}
	return s
}

// generator connects to the edge until the test ends.
func generator(t *testing.T, plan load.Plan) *load.Generator {
	t.Helper()
	g, err := load.New(plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}
