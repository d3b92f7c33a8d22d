package positions

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

const restartMethod = "An edge that has answered 2,000 links, all of which are in L2, is stopped, 20 of them are changed, and it is started again, " +
	"after its file of positions was removed where it says so. From its being ready on it is read 300 times a second for 10 s, all links as " +
	"likely, by an open loop. Before the stop 1,000 other links were made, so that all shards have moved on since L2 got the 2,000. L2's hit " +
	"ratio is of all that L1 did not answer. The region has no other edge."

// restarts measures an edge's first 10 s, with and without the positions that it saved.
func (s *stage) restarts(t *testing.T) {
	const stores = "waypost_edge_l2_stores_total"
	e := s.Edges[0]
	links := s.bulk(t, "warm", s.Times(200, 2000))
	s.Settle(t)
	before := e.Metric(t, stores)
	s.visit(t, links, 1, 0).warm(t)
	fleet.Await(t, "L2 has the links", func() error {
		if n := e.Metric(t, stores) - before; n < float64(len(links)) {
			return fmt.Errorf("%v of %d", n, len(links))
		}
		return nil
	})
	for _, saved := range []bool{true, false} {
		s.bulk(t, "others", 1000)
		s.Settle(t)
		got := s.restart(t, e, saved, links)
		name := "first 10 s of an edge with its saved positions"
		if !saved {
			name = "first 10 s of an edge without saved positions"
		}
		s.Found(t, measure.Figure{
			Name: name, Unit: "reads", N: got.Answers(), Method: restartMethod,
			Values: []measure.Value{
				measure.Number("L2's hit ratio", got.Share("l2", "l2", "origin", "filter"), "%"),
				measure.Number("fills", float64(got["origin"]), ""),
				measure.Number("hits in L1", float64(got["l1"]), ""), measure.Number("in L2", float64(got["l2"]), ""),
				measure.Number("unmarked", 100-got.Share("stale"), "%"),
			},
		})
	}
}

// restart stops an edge, lets things change, starts it again, and reads from it.
func (s *stage) restart(t *testing.T, e *fleet.Edge, saved bool, links []fleet.Link) Tiers {
	t.Helper()
	e.Stop(t)
	if !saved {
		if err := os.Remove(filepath.Join(e.State, "floors")); err != nil {
			t.Fatal(err)
		}
	}
	s.write(t, writeEvery, 20, links, "commit")
	e.Start(t)
	v := s.visit(t, links, 8, 0)
	n := int(s.Lasting(time.Second, 10*time.Second) * 300 / time.Second)
	_, err := measure.Pace{Every: time.Second / 300, Jobs: n, Workers: len(v.conns)}.Run(t.Context(), func(worker, _ int) error { return v.any(worker) })
	if err != nil {
		t.Error(err)
	}
	return v.told()
}
