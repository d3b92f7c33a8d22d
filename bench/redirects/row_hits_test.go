package redirects

import (
	"fmt"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
	"waypost/bench/peers"
)

// metricAllocations are those of a Go process, in all.
const metricAllocations = "go_memstats_mallocs_total"

// saturated is the share of its core from which on the generator is what limits a closed loop.
const saturated = 0.9

const hitsMethod = "Redirects of %s, all in L1, each asked for as often as the others; limiter async, clicks on. 64 connections that are kept alive, each from an address of its own, " +
	"GET with a browser's headers, 256 agents, 30 referring hosts, 8 languages; every answer's status and Location are checked. "

const closedMethod = hitsMethod + "Closed loop, %d turns of %s each after one that is left out, Waypost and its peers in turns: A B C A B C …. " +
	"Ratios are of turns that follow each other. Saturation is 1 / CPU of an answer; throughput is not told where the generator took 90 %% of its core or more. Aims: 1.0 of bare fasthttp, 1.0 of nginx, 1.0 of HAProxy, 0.4 of Varnish, 0.06 of Express."

const openMethod = hitsMethod + "Open loop at a fixed rate, %.0f %% of the server's own saturation in the closed loop; times count from when a request was due. " +
	"%d turns of %s each after one that is left out, Waypost and its peers in turns. A request is late by what its being sent was delayed, for lack of a free connection or of the generator's core."

func (s *stage) hitsOfOne(t *testing.T)  { s.hits(t, s.links[:1]) }
func (s *stage) hitsOfMany(t *testing.T) { s.hits(t, s.links) }

// hits measures redirects of links that the edge holds in L1.
func (s *stage) hits(t *testing.T, links []fleet.Link) {
	t.Helper()
	candidates := s.candidates(t, links)
	closed := s.closed(t, candidates, len(links))
	for _, share := range []float64{0.2, 0.5} {
		s.open(t, candidates, closed, share, len(links))
	}
	s.byWrk(t, candidates, len(links))
}

// codes is a number of them, in words.
func codes(n int) string {
	if n == 1 {
		return "one code"
	}
	return fmt.Sprintf("%d codes", n)
}

// closed measures what a redirect costs.
func (s *stage) closed(t *testing.T, candidates []*Candidate, links int) [][]Turn {
	t.Helper()
	rounds, lasting := s.Times(2, 5), s.Lasting(50*time.Millisecond, 2*time.Second)
	var behind, allocated float64 // since the first turn that counts
	turns, err := Interleave(candidates, rounds, func(c *Candidate) (Turn, error) {
		if c != candidates[0] {
			return c.Take(func(g *load.Generator) (load.Result, error) { return g.Closed(t.Context(), lasting) })
		}
		return s.edgeTurn(t, c, lasting, &behind, &allocated)
	})
	if err != nil {
		t.Fatal(err)
	}
	method := fmt.Sprintf(closedMethod, codes(links), rounds, lasting)
	s.compare(t, candidates, turns, links, method)
	for i, c := range candidates {
		values := []measure.Value{
			measure.Number("CPU", 0, "µs").Of(Each(turns[i], Turn.PerAnswer)),
			measure.Number("saturation", 1e6/measure.Median(Each(turns[i], Turn.PerAnswer)), "/s"),
		}
		share := measure.Median(Each(turns[i], func(t Turn) float64 { return t.Share() }))
		if share < saturated {
			values = append(values, measure.Number("throughput", 0, "/s").Of(Each(turns[i], func(t Turn) float64 { return t.PerSecond() })))
		}
		values = append(values, measure.Number("answer", perAnswer(turns[i]), "B"), measure.Number("generator's core", 100*share, "%"))
		if i == 0 {
			all := float64(Answers(turns[i])) * float64(rounds+1) / float64(rounds) // with the turn that is left out
			values = append(values, measure.Number("CPU of origin, PostgreSQL, Redis and NATS meanwhile", behind/all, "µs"), measure.Number("allocations in the process", allocated/all, ""))
		}
		s.Found(t, measure.Figure{
			Name: fmt.Sprintf("%s: a redirect of %s", c.Name, codes(links)), Unit: "redirects", N: Answers(turns[i]), Method: method, Values: values,
		})
	}
	return turns
}

// edgeTurn is a turn of the edge, which adds what was used behind it and what it allocated.
func (s *stage) edgeTurn(t *testing.T, c *Candidate, lasting time.Duration, behind, allocated *float64) (Turn, error) {
	t.Helper()
	used, allocations := s.behind(t), s.Edges[0].Metric(t, metricAllocations)
	turn, err := c.Take(func(g *load.Generator) (load.Result, error) { return g.Closed(t.Context(), lasting) })
	*behind += s.behind(t) - used
	*allocated += s.Edges[0].Metric(t, metricAllocations) - allocations
	return turn, err
}

// perAnswer is the mean size of an answer, in bytes.
func perAnswer(turns []Turn) float64 {
	bytes := 0
	for _, t := range turns {
		bytes += t.Bytes
	}
	return float64(bytes) / float64(Answers(turns))
}

// compare tells the edge's CPU against every peer's. The constant ones must have answered in as many bytes.
func (s *stage) compare(t *testing.T, candidates []*Candidate, turns [][]Turn, links int, method string) {
	t.Helper()
	bars := map[peers.Name]float64{peers.Bare: 1.15, peers.Nginx: 1.20, peers.HAProxy: 1.1, peers.Varnish: 0.45, peers.Express: 0.08}
	var values []measure.Value
	for i, p := range s.peers {
		ratios := Ratios(turns[0], turns[i+1], Turn.PerAnswer)
		value := measure.Number("of "+string(p.Name), 0, "×")
		if bar, ok := bars[p.Name]; ok {
			value = measure.Most("of "+string(p.Name), 0, bar, "×")
		}
		values = append(values, value.Of(ratios))
		if got, want := perAnswer(turns[i+1]), perAnswer(turns[0]); p.Constant && got != want {
			t.Errorf("%s: an answer has %v bytes, want %v as %s's", p.Name, got, want, candidates[0].Name)
		}
	}
	s.Found(t, measure.Figure{
		Name: "CPU of a redirect of " + codes(links) + " against", Unit: "redirects", N: Answers(turns[0]), Method: method, Values: values,
	})
}

// open measures how long a redirect takes at a share of what each server can do.
func (s *stage) open(t *testing.T, candidates []*Candidate, closed [][]Turn, share float64, links int) {
	t.Helper()
	rates := map[*Candidate]float64{}
	for i, c := range candidates {
		rates[c] = share * 1e6 / measure.Median(Each(closed[i], Turn.PerAnswer))
	}
	rounds, lasting := s.Times(1, 3), s.Lasting(50*time.Millisecond, 2*time.Second)
	turns, err := Interleave(candidates, rounds, func(c *Candidate) (Turn, error) {
		return c.Take(func(g *load.Generator) (load.Result, error) { return g.Open(t.Context(), rates[c], lasting) })
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range candidates {
		micros := func(name string, of func(Turn) *load.Times, q float64) measure.Value {
			return measure.Number(name, 0, "µs").Of(Each(turns[i], func(t Turn) float64 { return float64(of(t).Quantile(q)) / 1e3 }))
		}
		times := func(t Turn) *load.Times { return t.Classes[0].Times }
		late := func(t Turn) *load.Times { return t.Late }
		s.Found(t, measure.Figure{
			Name: fmt.Sprintf("%s: times of %s at %.0f %% of its saturation", c.Name, codes(links), 100*share), Unit: "redirects", N: Answers(turns[i]),
			Method: fmt.Sprintf(openMethod, codes(links), 100*share, rounds, lasting),
			Values: []measure.Value{
				measure.Number("rate", rates[c], "/s"), micros("p50", times, 0.5), micros("p90", times, 0.9), micros("p99", times, 0.99), micros("p99.9", times, 0.999), micros("max", times, 1),
				micros("late p50", late, 0.5), micros("late p99", late, 0.99),
				measure.Number("CPU", 0, "µs").Of(Each(turns[i], Turn.PerAnswer)),
				measure.Number("generator's core", 0, "%").Of(Each(turns[i], func(t Turn) float64 { return 100 * t.Share() })),
			},
		})
	}
}
