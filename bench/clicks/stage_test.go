package clicks

import (
	"context"
	"fmt"
	"testing"

	"waypost/bench/fleet"
)

// Metrics of a process, and of an edge that tell where its clicks are.
const (
	metricCPU     = "process_cpu_seconds_total"
	metricShipped = "waypost_edge_clicks_shipped_total"
	metricFrames  = "waypost_edge_spool_frames_total"
	metricDisk    = "waypost_edge_clicks_disk_bytes"
	metricBehind  = "waypost_edge_clicks_behind_bytes"
)

// stage is a running fleet on which rows are measured, one after the other.
type stage struct {
	*measuring
	*fleet.Fleet
	api *fleet.API
}

// one is a fleet of one edge.
func (m *measuring) one(t *testing.T) *stage {
	t.Helper()
	return m.fleet(t, fleet.Spec{
		Edges: []string{"eu"}, EdgeEnv: map[string]string{"WAYPOST_CLICKS_DISK": "4GiB"},
		KeepState: true, PrivatePostgres: !m.Full(),
	})
}

// two is a fleet of two edges, of which the second one counts no clicks. For figures, edges have one core and all else
// has another one. A small run goes without what takes memory: an edge that was built with the race detector needs more
// than a gigabyte to save its positions.
func (m *measuring) two(t *testing.T) *stage {
	t.Helper()
	const edgesCore, othersCore = 1, 0
	if m.Full() {
		fleet.PinHere(t, othersCore)
	}
	s := m.fleet(t, fleet.Spec{
		Edges: []string{"eu", "eu"},
		EdgeEnv: map[string]string{
			"GOMAXPROCS": "1", "WAYPOST_LIMIT_MODE": "async",
			"WAYPOST_LIMIT_RATE": "1000000", "WAYPOST_LIMIT_BURST": "1000000", // asked for every request, and never used up
		},
		OneEdgeEnv: []map[string]string{{"WAYPOST_CLICKS": "on"}, {"WAYPOST_CLICKS": "off"}},
		KeepState:  m.Full(),
	})
	if m.Full() {
		for _, e := range s.Edges {
			e.Pin(t, edgesCore)
		}
	}
	return s
}

// fleet starts one.
func (m *measuring) fleet(t *testing.T, spec fleet.Spec) *stage {
	t.Helper()
	spec.Binaries, spec.DurablePostgres = binaries, m.Full()
	s := &stage{measuring: m, Fleet: fleet.Start(t, spec)}
	s.api = s.API(t)
	return s
}

// links makes links, and waits until every edge answers them from its memory.
func (s *stage) links(t *testing.T, n int) []fleet.Link {
	t.Helper()
	links := s.api.MustBulk(t, n, func(int) fleet.Fields {
		return fleet.Fields{"target": "https://example.com/somewhere/to/go?with=a&query=b"}
	})
	s.Settle(t)
	for _, e := range s.Edges {
		e.AwaitL1(t, links)
	}
	return links
}

// nothingBehind is an error as long as the origin has not got all of an edge's clicks.
func nothingBehind(ctx context.Context, edge *fleet.Edge) error {
	m, err := edge.Metrics(ctx)
	if err == nil && m[metricBehind] > 0 {
		err = fmt.Errorf("%v bytes behind", m[metricBehind])
	}
	return err
}
