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

// tierClients ask for what tiers hold.
const tierClients = 8

// tierEffort is how much of everything is done to measure tiers.
type tierEffort struct {
	rounds  int
	lasting time.Duration // of a turn of each kind
	rate    int           // requests a second: few enough for each to find servers that wait
	links   int           // that are asked for in a turn, spread over all
	crowd   int           // unknown codes, more than a small L1 holds, for which links have to leave it
}

func (m *measuring) tierEffort() tierEffort {
	if m.Full() {
		return tierEffort{rounds: 5, lasting: 2 * time.Second, rate: 1000, links: 2000, crowd: 3000}
	}
	return tierEffort{rounds: 1, lasting: 100 * time.Millisecond, rate: 200, links: 20, crowd: 1}
}

// smallL1 is the least that L1 may have, which holds some 1,800 links.
const smallL1 = "1MiB"

const tierMethod = "Two edges of one region, the second with %s for L1, %d links copied into PostgreSQL, all of which L2 holds. An open loop of %d requests a second over %d connections, %d turns of %s of each kind after one that is left out: " +
	"hits of one code in the first edge's L1; links in the second one's L2; links of which L2 was made to forget the values, each once. Before either of the latter the second edge is asked for %d unknown codes three times each, which take the place of links in its L1, " +
	"and only answers of the tier that is measured count. Beside them in each turn, at the same rate, one at a time: " +
	"GET of the same values by go-redis from the edges' core, SELECT of the same links by a connection of pgx from the origin's core with its statement prepared, GET by fasthttp's client from the edges' core of a bare fasthttp on the origin's, " +
	"and a request of the load to a bare fasthttp on the edges' core; the last two are the round trips over HTTP."

// cold is a seeded fleet as the tiers beyond L1 are measured on: its second edge has a small L1.
type cold struct {
	*seeded
	near, far *peers.Peer // bare servers on the edges' core and on the origin's
	trips     *roundTrips
	from      int // which link the next turn begins with
	inL1      int // how many links the first edge was seen to hold
}

func (m *measuring) cold(t *testing.T, links int, first map[string]string) *cold {
	t.Helper()
	s := m.seeded(t, links, first, map[string]string{"WAYPOST_L1_BYTES": smallL1})
	near, far := peers.Anywhere, peers.Anywhere
	if m.Full() {
		near, far = serversCore, loadCore
	}
	return &cold{
		seeded: s, trips: m.buildRoundTrips(t),
		near: peers.Start(t, peers.Bare, s.links[:1], near), far: peers.Start(t, peers.Bare, s.links[:1], far),
	}
}

// tierTurn is what one turn found: p50 of each kind in microseconds, and how many answers that of L2 and that of the
// origin are of.
type tierTurn struct {
	l1, l2, origin            float64
	get, row, client, visitor float64
	hits, misses              int
}

// roundTrips is the sum of what a miss goes through at least.
func (t tierTurn) roundTrips() float64 { return t.row + t.client + t.visitor + 2*t.get }

// turn measures all kinds once.
func (c *cold) turn(t *testing.T) (got tierTurn) {
	t.Helper()
	effort := c.tierEffort()
	lasting, rate := effort.lasting, float64(effort.rate)
	at, some := c.some()
	hit := c.open(t, c.Edges[0].Addr, lasting, c.visits(visits, func() fleet.Link { return c.links[0] }))
	got.l1 = p50(hit.Classes[FromL1].Times)

	c.flood(t, effort.crowd)
	asks := c.visits(max(int(rate*lasting.Seconds()), 1), func() fleet.Link { return some[c.random.IntN(len(some))] })
	found := c.open(t, c.Edges[1].Addr, lasting, asks)
	got.l2, got.hits = p50(found.Classes[FromL2].Times), int(found.Classes[FromL2].Times.N())

	c.flood(t, effort.crowd)
	if err := c.l2.Forget(t.Context(), some); err != nil {
		t.Fatal(err)
	}
	next := 0
	each := c.visits(len(some), func() fleet.Link { next++; return some[next-1] })
	lost := c.open(t, c.Edges[1].Addr, time.Duration(float64(len(some))/rate*float64(time.Second)), each)
	got.origin, got.misses = p50(lost.Classes[FromOrigin].Times), int(lost.Classes[FromOrigin].Times.N())
	if got.hits == 0 || got.misses == 0 {
		t.Fatalf("of %d links: %d answers from L2 and %d misses, want some of both", len(c.links), got.hits, got.misses)
	}
	if err := c.l2.Hold(t.Context(), c.made, at); err != nil { // what L1 held was not asked of L2
		t.Fatal(err)
	}

	got.visitor = p50(c.open(t, c.near.Addr, lasting, constant(each, c.links[0].Target)).Classes[FromL1].Times)
	ask := func(kind, url string, core int, names []string) float64 {
		return micros(c.trips.times(t, question{kind: kind, url: url, names: names, core: core, rate: rate, lasting: lasting}).Quantile(0.5))
	}
	got.get = ask("redis", c.Redis["eu"].URL(), serversCore, valuesOf(some))
	got.row = ask("postgres", c.DatabaseURL(), loadCore, codesOf(some))
	got.client = ask("http", "http://"+c.far.Addr, serversCore, codesOf(some))
	return got
}

// some are the links of a turn, other ones in the next as long as there are any, and where they are.
func (c *cold) some() (at []int, some []fleet.Link) {
	n := min(c.tierEffort().links, len(c.links))
	for i := range n {
		at = append(at, (c.from+i*(len(c.links)/n))%len(c.links))
		some = append(some, c.links[at[i]])
	}
	c.from++
	return at, some
}

// flood asks the edge with the small L1 for unknown codes, the same ones in every turn, more often than links are asked
// for in one: they take the place of links there.
func (c *cold) flood(t *testing.T, crowd int) {
	t.Helper()
	const (
		times = 3
		rate  = 20_000 // a second, if the edge can
	)
	next := 0
	asks := c.visits(times*crowd, func() fleet.Link { next++; return fleet.Link{Code: fmt.Sprintf("crowd-%d", next%crowd)} })
	_, err := c.asked(t, c.Edges[1].Addr, tierClients, asks, func(g *load.Generator) (load.Result, error) {
		return g.Open(t.Context(), rate, time.Duration(len(asks))*time.Second/rate)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// open asks at the rate of all tiers.
func (c *cold) open(t *testing.T, addr string, lasting time.Duration, asks []load.Ask) load.Result {
	t.Helper()
	got, err := c.asked(t, addr, tierClients, asks, func(g *load.Generator) (load.Result, error) {
		return g.Open(t.Context(), float64(c.tierEffort().rate), lasting)
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// tierTurns takes turns of fleets, A B C A B C …, the first of each being left out.
func (m *measuring) tierTurns(t *testing.T, fleets []*cold) [][]tierTurn {
	t.Helper()
	turns := make([][]tierTurn, len(fleets))
	for round := range m.tierEffort().rounds + 1 {
		for i, c := range fleets {
			if turn := c.turn(t); round > 0 {
				turns[i] = append(turns[i], turn)
			}
		}
	}
	return turns
}

// tierFound says how a number of links was measured.
func (m *measuring) tierFound(links int) string {
	e := m.tierEffort()
	return fmt.Sprintf(tierMethod, smallL1, links, e.rate, tierClients, e.rounds, e.lasting, e.crowd)
}

// times measures what L2 and the origin take, beside what they are made of.
func (c *cold) times(t *testing.T) {
	turns := c.tierTurns(t, []*cold{c})[0]
	method := c.tierFound(len(c.links))
	hits, misses := tierAnswers(turns)
	median := func(name string, of func(tierTurn) float64) measure.Value {
		return measure.Number(name, 0, "µs").Of(each(turns, of))
	}
	c.Found(t, measure.Figure{
		Name: "a redirect from L2", Unit: "redirects", N: hits, Method: method,
		Values: []measure.Value{
			median("p50", func(t tierTurn) float64 { return t.l2 }), median("p50 of L1", func(t tierTurn) float64 { return t.l1 }),
			median("p50 of a raw GET", func(t tierTurn) float64 { return t.get }),
			measure.Most("(L2 − L1) / GET", 0, 1.3, "×").Of(each(turns, func(t tierTurn) float64 { return (t.l2 - t.l1) / t.get })),
		},
	})
	c.Found(t, measure.Figure{
		Name: "a cold miss to PostgreSQL", Unit: "redirects", N: misses, Method: method,
		Values: []measure.Value{
			median("p50", func(t tierTurn) float64 { return t.origin }),
			median("p50 of a bare SELECT", func(t tierTurn) float64 { return t.row }), median("p50 of a raw GET", func(t tierTurn) float64 { return t.get }),
			median("p50 of HTTP by a client", func(t tierTurn) float64 { return t.client }), median("p50 of HTTP by the load", func(t tierTurn) float64 { return t.visitor }),
			measure.Most("of SELECT + 2 HTTP + 2 GET", 0, 1.2, "×").Of(each(turns, func(t tierTurn) float64 { return t.origin / t.roundTrips() })),
		},
	})
}

// tierAnswers counts the answers that turns are of.
func tierAnswers(turns []tierTurn) (hits, misses int) {
	for _, t := range turns {
		hits, misses = hits+t.hits, misses+t.misses
	}
	return hits, misses
}

// each is a number of every turn.
func each[T any](turns []T, number func(T) float64) []float64 {
	all := make([]float64, len(turns))
	for i, t := range turns {
		all[i] = number(t)
	}
	return all
}

// micros is a time in microseconds, as it stands in a report.
func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// p50 is the median in microseconds.
func p50(times *load.Times) float64 { return micros(times.Quantile(0.5)) }
