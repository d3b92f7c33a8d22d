package redirects

import (
	"fmt"
	"testing"
	"time"

	"waypost/bench/load"
	"waypost/bench/measure"
)

const unknownMethod = "Closed loop of %d connections, %d turns of %s each after one that is left out, unknown codes and links in L2 in turns, both asked of the edge with %s for L1. " +
	"Every unknown code is another one. %d links, which is what the Bloom filters are laid out for, at a rate of 1 %%: they are as full as they may be. What was answered without the origin is told by the edge's metrics."

// unknownCodes measures requests for codes that no link has.
func (c *cold) unknownCodes(t *testing.T) {
	rounds, lasting := c.Times(1, 5), c.Lasting(50*time.Millisecond, 2*time.Second)
	pids := []int{c.Edges[1].PID(t)}
	links, unknown := &Candidate{Name: "L2", PIDs: pids, Settle: c.clicksApplied(t)}, &Candidate{Name: "unknown", PIDs: pids}
	asks := c.Times(2000, 150_000) // more than are answered in a turn
	loop := func(g *load.Generator) (load.Result, error) { return g.Closed(t.Context(), lasting) }
	answered := func() (all, origin float64) {
		m, err := c.Edges[1].Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, tier := range Tiers()[:FromNone] {
			n, err := m.Sum("waypost_edge_requests_total", fmt.Sprintf("tier=%q", tier))
			if err != nil {
				t.Fatal(err)
			}
			if all += n; tier == Tiers()[FromOrigin] {
				origin = n
			}
		}
		return all, origin
	}
	var without []float64
	turns, err := Interleave([]*Candidate{links, unknown}, rounds, func(cand *Candidate) (Turn, error) {
		if cand == links {
			return c.take(t, cand, c.Edges[1].Addr, c.Times(4, conns), c.visits(asks, c.any), loop)
		}
		all, origin := answered()
		turn, err := c.take(t, cand, c.Edges[1].Addr, c.Times(4, conns), c.visits(asks, c.unknown), loop)
		nowAll, nowOrigin := answered()
		without = append(without, 100*(1-(nowOrigin-origin)/(nowAll-all)))
		return turn, err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Found(t, measure.Figure{
		Name: "unknown codes", Unit: "requests", N: Answers(turns[1]), Method: fmt.Sprintf(unknownMethod, c.Times(4, conns), rounds, lasting, smallL1, len(c.links)),
		Values: []measure.Value{
			measure.Least("answered without the origin", 0, 98.5, "%").Of(without[1:]),
			measure.Most("CPU of a redirect from L2", 0, 1.5, "×").Of(Ratios(turns[1], turns[0], Turn.PerAnswer)),
			measure.Number("CPU", 0, "µs").Of(Each(turns[1], Turn.PerAnswer)), measure.Number("CPU from L2", 0, "µs").Of(Each(turns[0], Turn.PerAnswer)),
		},
	})
}
