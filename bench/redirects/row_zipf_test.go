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

const zipfMethod = "Redirects of %d links, each asked for in inverse proportion to its rank (Zipf, exponent 1.0), by one edge with %s for L1; limiter async, clicks on. L2 holds all links, as it does after a day, for which it keeps what was asked for; " +
	"the shares of the tiers are those of the traffic. %d connections, every turn other requests. "

const zipfClosed = zipfMethod + "Closed loop, %d turns of %s each after one that is left out. Saturation is 1 / CPU of an answer."

const zipfOpen = zipfMethod + "Open loop at %.0f %% of the edge's saturation in the closed loop, %d turns of %s each after one that is left out, the edge, nginx with a map of all links at the same rate, and a raw GET by go-redis from the edge's core, " +
	"of values of links drawn alike, at the rate of the edge's lookups in L2, in turns: A B C A B C …. Times of requests count from when they were due, those of raw GETs from when they were sent. Percentiles are of a turn, all values medians of turns."

// skewed is a seeded fleet with one edge, whose links are asked for by their rank, and nginx with the same links.
type skewed struct {
	*seeded
	zipf  *Zipf
	nginx *peers.Peer
	trips *roundTrips
	cand  *Candidate // the edge
	l1    string
}

func (m *measuring) skewed(t *testing.T, links int) *skewed {
	t.Helper()
	size := "64MiB"
	if !m.Full() {
		size = smallL1
	}
	s := &skewed{seeded: m.seeded(t, links, map[string]string{"WAYPOST_L1_BYTES": size}), trips: m.buildRoundTrips(t), l1: size}
	core := peers.Anywhere
	if m.Full() {
		core = serversCore
	}
	s.nginx = peers.Start(t, peers.Nginx, s.links, core)
	s.zipf = NewZipf(s.random, links)
	s.cand = &Candidate{Name: edge, PIDs: []int{s.Edges[0].PID(t)}, Settle: s.clicksApplied(t)}
	s.warm(t)
	return s
}

// byRank picks a link in inverse proportion to its rank.
func (s *skewed) byRank() fleet.Link { return s.links[s.zipf.Next()] }

// warm asks until L1 is full of what is asked for most.
func (s *skewed) warm(t *testing.T) {
	t.Helper()
	if _, err := s.closed(t, s.Times(500, 400_000), s.Lasting(50*time.Millisecond, 15*time.Second), nil); err != nil {
		t.Fatal(err)
	}
}

// meanwhile is what goes on beside a loop: it starts, and returns what is called as soon as the loop has ended, and what
// once the clicks are counted as well.
type meanwhile func(t *testing.T) (looped, counted func())

// closed is a turn of the edge in a closed loop, of so many requests made beforehand; beside may be nil.
func (s *skewed) closed(t *testing.T, n int, lasting time.Duration, beside meanwhile) (Turn, error) {
	t.Helper()
	asks := s.visits(n, s.byRank)
	looped, counted := func() {}, func() {}
	if beside != nil {
		looped, counted = beside(t)
	}
	defer counted()
	return s.take(t, s.cand, s.Edges[0].Addr, s.Times(4, conns), asks, func(g *load.Generator) (load.Result, error) {
		defer looped()
		return g.Closed(t.Context(), lasting)
	})
}

// turns are closed loops of the edge alone, in turns with such that something goes on beside, if that is not nil.
func (s *skewed) turns(t *testing.T, beside meanwhile) (turns [][]Turn, method string) {
	t.Helper()
	rounds, lasting, n := s.Times(1, 5), s.Lasting(50*time.Millisecond, 2*time.Second), s.Times(1000, 100_000)
	alone, together := &Candidate{Name: edge}, &Candidate{Name: edge + " meanwhile"}
	all := []*Candidate{alone}
	if beside != nil {
		all = append(all, together)
	}
	turns, err := Interleave(all, rounds, func(c *Candidate) (Turn, error) {
		if c == together {
			return s.closed(t, n, lasting, beside)
		}
		return s.closed(t, n, lasting, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	return turns, fmt.Sprintf(zipfClosed, len(s.links), s.l1, s.Times(4, conns), rounds, lasting)
}

// share60 is the share of the edge's saturation at which times are measured.
const share60 = 0.6

// atRest measures what all tiers in their proportions cost and take.
func (s *skewed) atRest(t *testing.T) {
	turns, method := s.turns(t, nil)
	alone := turns[0]
	saturation := 1e6 / measure.Median(Each(alone, Turn.PerAnswer))
	s.Found(t, measure.Figure{
		Name: "a redirect by Zipf's law", Unit: "redirects", N: Answers(alone), Method: method,
		Values: []measure.Value{measure.Number("CPU", 0, "µs").Of(Each(alone, Turn.PerAnswer)), measure.Number("saturation", saturation, "/s")},
	})
	s.open(t, share60*saturation)
}

// zipfTurn is what one turn found, times in microseconds.
type zipfTurn struct {
	edge, nginx Turn
	get         float64 // p99 of a raw GET
}

// open measures times at a rate, beside nginx and raw GETs.
func (s *skewed) open(t *testing.T, rate float64) {
	t.Helper()
	rounds, lasting := s.Times(1, 7), s.Lasting(100*time.Millisecond, 2*time.Second)
	nginx := &Candidate{Name: string(peers.Nginx), PIDs: s.nginx.PIDs}
	var turns []zipfTurn
	for round := range rounds + 1 {
		asks := s.visits(max(int(rate*lasting.Seconds())+1, 1), s.byRank)
		loop := func(g *load.Generator) (load.Result, error) { return g.Open(t.Context(), rate, lasting) }
		var turn zipfTurn
		var err error
		if turn.edge, err = s.take(t, s.cand, s.Edges[0].Addr, s.Times(4, conns), asks, loop); err == nil {
			turn.nginx, err = s.take(t, nginx, s.nginx.Addr, s.Times(4, conns), asks, loop)
		}
		if err != nil {
			t.Fatal(err)
		}
		names := make([]fleet.Link, 1000)
		for i := range names {
			names[i] = s.byRank()
		}
		turn.get = micros(s.trips.times(t, question{
			kind: "redis", url: s.Redis["eu"].URL(), names: valuesOf(names), core: serversCore, workers: creators, lasting: lasting,
			rate: max(rate*(1-turn.share(FromL1)), 50),
		}).Quantile(0.99))
		if round > 0 {
			turns = append(turns, turn)
		}
	}
	method := fmt.Sprintf(zipfOpen, len(s.links), s.l1, s.Times(4, conns), 100*share60, rounds, lasting)
	s.foundTimes(t, turns, rate, method)
}

// share is that of a tier in the edge's answers.
func (t zipfTurn) share(tier int) float64 {
	return float64(t.edge.Classes[tier].Times.N()) / float64(t.edge.Answers)
}

// p99 is that of a turn's answers from a tier, in microseconds.
func p99(t Turn, tier int) float64 { return micros(t.Classes[tier].Times.Quantile(0.99)) }

// beyond is what the edge's p99 of all tiers has beyond that of nginx, in raw GETs.
func (t zipfTurn) beyond() float64 { return (t.edge.Quantile(0.99) - t.nginx.Quantile(0.99)) / t.get }

func (s *skewed) foundTimes(t *testing.T, turns []zipfTurn, rate float64, method string) {
	t.Helper()
	n := 0
	for _, turn := range turns {
		n += turn.edge.Answers
	}
	of := func(name, unit string, number func(zipfTurn) float64) measure.Value {
		return measure.Number(name, 0, unit).Of(each(turns, number))
	}
	values := []measure.Value{
		measure.Most("(p99 − p99 of nginx) / p99 of a raw GET", 0, 1.5, "×").Of(each(turns, zipfTurn.beyond)),
		measure.Most("p99 of L1 / p99 of nginx", 0, 1.5, "×").Of(each(turns, func(z zipfTurn) float64 { return p99(z.edge, FromL1) / z.nginx.Quantile(0.99) })),
		measure.Number("rate", rate, "/s"),
		of("p50", "µs", func(z zipfTurn) float64 { return z.edge.Quantile(0.5) }), of("p99", "µs", func(z zipfTurn) float64 { return z.edge.Quantile(0.99) }),
		of("p99 of L1", "µs", func(z zipfTurn) float64 { return p99(z.edge, FromL1) }), of("p99 of L2", "µs", func(z zipfTurn) float64 { return p99(z.edge, FromL2) }),
		of("p99 of nginx", "µs", func(z zipfTurn) float64 { return z.nginx.Quantile(0.99) }), of("p99 of a raw GET", "µs", func(z zipfTurn) float64 { return z.get }),
		of("generator's core", "%", func(z zipfTurn) float64 { return 100 * z.edge.Share() }),
	}
	for tier, name := range Tiers() {
		values = append(values, of("from "+name, "%", func(z zipfTurn) float64 { return 100 * z.share(tier) }))
	}
	s.Found(t, measure.Figure{
		Name: fmt.Sprintf("times by Zipf's law at %.0f %% of the saturation", 100*share60), Unit: "redirects", N: n, Method: method, Values: values,
	})
}
