package e2e

import (
	"fmt"
	"testing"

	"waypost/bench/fleet"
)

// writers are the edges of each region that say they keep its Redis in step.
func writers(t *testing.T, edges []*fleet.Edge) (names []string) {
	t.Helper()
	for _, e := range edges {
		if e.Metric(t, "waypost_edge_region_writer") == 1 {
			names = append(names, e.Name)
		}
	}
	return names
}

func TestRegionHasOneWriterAndAnotherOnceItDies(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{Edges: []string{"eu", "eu", "us"}})
	region := f.Edges[:2]
	one := func(edges []*fleet.Edge) (name string) {
		fleet.Await(t, "one edge writes", func() error {
			names := writers(t, edges)
			if len(names) != 1 {
				return fmt.Errorf("writers: %v", names)
			}
			name = names[0]
			return nil
		})
		return name
	}
	first := one(region)
	one(f.Edges[2:])
	dying, heir := region[0], region[1]
	if heir.Name == first {
		dying, heir = heir, dying
	}
	dying.Kill()
	one([]*fleet.Edge{heir})
	dying.Start(t)
	f.Settle(t)
	if got := writers(t, region); len(got) != 1 || got[0] != heir.Name {
		t.Errorf("writers are %v once the first is back, want %s alone", got, heir.Name)
	}
	links := numbered(t, f.API(t), "written", 20)
	atEvery(f.Edges, func(e *fleet.Edge) { allLead(t, e, 2, links) })
	neverStale(t, f)
}
