package clicks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
)

// floodConns is how many connections a flood has, and floodAgents how many kinds of browsers speak by them.
const (
	floodConns  = 64
	floodAgents = 256
)

const throughputMethod = "Two edges, one of which counts clicks, in turns of 3 s, which of them goes first changing; the first turn of each is left out. " +
	"The edges have one core (taskset, GOMAXPROCS=1); the load, origin, PostgreSQL, Redis and NATS share another one. 64 connections that are kept alive, each " +
	"from an address of its own, in a closed loop of a generator on raw sockets; GET with a browser's headers, 256 agents, 30 referring hosts, 8 languages, links in L1 (Zipf 1.1). " +
	"Limiter async, metrics on, an audit of one in 1,000. What is counted is shipped and applied meanwhile, on the load's core, which with 1,000 links takes so much of it that the " +
	"load is held up: the bar is of 100 links. The ratio is of turns that follow each other, and of them the median; CPU is the edge's, by its process_cpu_seconds_total, " +
	"for all that it does: redirects, spool, adding up and shipping. What the kernel does for packets after they were sent is in the ratio and not in the CPU."

// slice is what a flood got of one edge in one turn.
type slice struct {
	load.Result
	cpu time.Duration // that the edge used
}

// perRequest is the edge's processor time for an answer, in microseconds.
func (s slice) perRequest() float64 { return s.cpu.Seconds() * 1e6 / float64(s.Answers) }

func (s *stage) redirectsWithAndWithout(t *testing.T) {
	all := s.links(t, s.Times(50, 1000))
	some := all[:s.Times(10, 100)]
	on, off := s.turns(t, some)
	s.compare(t, on, off, len(some), func(ratio float64) measure.Value { return measure.Least("ratio", ratio, 0.93, "") })
	on, off = s.turns(t, all)
	s.compare(t, on, off, len(all), func(ratio float64) measure.Value { return measure.Number("ratio", ratio, "") })
}

// turns floods the edges in turns: that with clicks on, and that with clicks off.
func (s *stage) turns(t *testing.T, links []fleet.Link) (on, off []slice) {
	t.Helper()
	visits := Visits(1, links, s.Times(512, 8192), floodAgents)
	var floods [2]*load.Generator
	for i := range floods {
		floods[i] = s.generator(t, s.Edges[i], visits)
	}
	lasting := s.Lasting(100*time.Millisecond, 3*time.Second)
	for turn := range s.Times(2, 8) {
		order := []int{0, 1}
		if turn%2 == 1 {
			slices.Reverse(order)
		}
		var got [2]slice
		for _, i := range order {
			got[i] = s.flood(t, floods[i], s.Edges[i], lasting)
		}
		if turn > 0 {
			on, off = append(on, got[0]), append(off, got[1])
		}
	}
	return on, off
}

// generator connects to an edge until the test ends.
func (s *stage) generator(t *testing.T, e *fleet.Edge, visits []load.Ask) *load.Generator {
	t.Helper()
	g, err := load.New(load.Plan{Addr: e.Addr, Conns: s.Times(4, floodConns), Asks: visits})
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

// flood floods an edge for a time.
func (s *stage) flood(t *testing.T, g *load.Generator, e *fleet.Edge, lasting time.Duration) slice {
	t.Helper()
	before := e.Metric(t, metricCPU)
	got, err := g.Closed(t.Context(), lasting)
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	return slice{got, time.Duration((e.Metric(t, metricCPU) - before) * float64(time.Second))}
}

// compare tells what the counting of clicks leaves of the throughput.
func (s *stage) compare(t *testing.T, on, off []slice, links int, ratio func(float64) measure.Value) {
	t.Helper()
	var with, without, ratios, cost, before, more []float64
	answers := 0
	for i := range on {
		with, without = append(with, on[i].PerSecond()), append(without, off[i].PerSecond())
		ratios = append(ratios, on[i].PerSecond()/off[i].PerSecond())
		cost, before = append(cost, on[i].perRequest()), append(before, off[i].perRequest())
		more = append(more, on[i].perRequest()-off[i].perRequest())
		answers += on[i].Answers
	}
	s.Found(t, measure.Figure{
		Name: fmt.Sprintf("redirects of %d links with clicks on, against off", links), Unit: "redirects with clicks on", N: answers, Method: throughputMethod,
		Values: []measure.Value{
			ratio(measure.Median(ratios)), measure.Number("least", slices.Min(ratios), ""), measure.Number("largest", slices.Max(ratios), ""),
			measure.Number("on", measure.Median(with), "/s"), measure.Number("off", measure.Median(without), "/s"),
		},
	})
	s.Found(t, measure.Figure{
		Name: fmt.Sprintf("CPU of the edge for a redirect of %d links", links), Unit: "redirects with clicks on", N: answers, Method: throughputMethod,
		Values: []measure.Value{
			measure.Number("with its click", measure.Median(cost), "µs"), measure.Number("without", measure.Median(before), "µs"),
			measure.Number("the click", measure.Median(more), "µs"),
			measure.Number("its least", slices.Min(more), "µs"), measure.Number("its most", slices.Max(more), "µs"),
		},
	})
}
