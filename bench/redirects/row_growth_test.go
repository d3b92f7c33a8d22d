package redirects

import (
	"fmt"
	"testing"

	"waypost/bench/measure"
)

const growthMethod = " A fleet for each number of links, all running at once and measured in turns. Ratios are of turns that follow each other."

// growing are fleets with ever more links.
type growing struct {
	*measuring
	fleets []*cold
}

// growing starts a fleet for each size. Their first edges have room for all links in L1.
func (m *measuring) growing(t *testing.T, sizes []int) *growing {
	t.Helper()
	g := &growing{measuring: m}
	for _, n := range sizes {
		g.fleets = append(g.fleets, m.cold(t, n, map[string]string{"WAYPOST_L1_BYTES": roomFor(n)}))
	}
	return g
}

// sizes are the numbers of links that growth is measured with.
func (m *measuring) sizes() []int {
	switch {
	case !m.Full():
		return []int{500, 2000}
	case m.ten:
		return []int{1000, 10_000, 100_000, 1_000_000, 10_000_000}
	default:
		return []int{1000, 10_000, 100_000, 1_000_000}
	}
}

// times measures what L2 and the origin take with more links, against the fewest.
func (g *growing) times(t *testing.T) {
	all := g.tierTurns(t, g.fleets)
	fewest := len(g.fleets[0].links)
	for i, c := range g.fleets {
		hits, misses := tierAnswers(all[i])
		method := g.tierFound(len(c.links)) + growthMethod
		for _, kind := range []struct {
			name string
			n    int
			of   func(tierTurn) float64
		}{
			{"from L2", hits, func(t tierTurn) float64 { return t.l2 }},
			{"by a cold miss", misses, func(t tierTurn) float64 { return t.origin }},
		} {
			against := fmt.Sprintf("against %d links", fewest)
			ratio := measure.Number(against, 0, "×")
			if len(c.links) == fewest*1000 { // what the bar is of
				ratio = measure.Most(against, 0, 1.1, "×")
			}
			own := each(all[i], kind.of)
			g.Found(t, measure.Figure{
				Name: fmt.Sprintf("a redirect %s with %d links", kind.name, len(c.links)), Unit: "redirects", N: kind.n, Method: method,
				Values: []measure.Value{measure.Number("p50", 0, "µs").Of(own), ratio.Of(quotients(own, each(all[0], kind.of)))},
			})
		}
	}
}

// million is the fleet with the most links up to a million.
func (g *growing) million() *cold {
	most := g.fleets[0]
	for _, c := range g.fleets {
		if len(c.links) <= 1_000_000 {
			most = c
		}
	}
	return most
}

// quotients are those of two numbers of each turn.
func quotients(of, to []float64) []float64 {
	all := make([]float64, len(of))
	for i := range of {
		all[i] = of[i] / to[i]
	}
	return all
}
