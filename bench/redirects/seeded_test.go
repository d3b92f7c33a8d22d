package redirects

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"

	"waypost/bench/fleet"
	"waypost/bench/load"
)

// redisPerLink is what a region's Redis may use for each link, in bytes, and redisLeast what it may at least.
const (
	redisPerLink = 1 << 10
	redisLeast   = 64 << 20
)

// seeded is a fleet with links that were copied into its database, all of which L2 holds, and nothing beside it. Its
// edges stand in one region and share its Redis.
type seeded struct {
	*stage
	made *fleet.Seeded
	l2   fleet.L2
	held float64 // bytes that L2 uses for the values of all links

	random *rand.Rand
}

// seeded starts an edge for each environment given, with so many links.
func (m *measuring) seeded(t *testing.T, links int, edges ...map[string]string) *seeded {
	t.Helper()
	spec := fleet.Spec{
		Binaries: binaries, EdgeEnv: edgeEnv(), OneEdgeEnv: edges,
		KeepState: m.Full(), DurablePostgres: m.Full(), RedisMemory: int64(max(redisLeast, links*redisPerLink)),
	}
	for range edges {
		spec.Edges = append(spec.Edges, "eu")
	}
	spec.EdgeEnv["WAYPOST_FILTER_KEYS"] = strconv.Itoa(max(links, 1000)) // a filter that is as full as it may be
	if m.Full() {
		fleet.PinHere(t, loadCore)
	}
	f := fleet.Prepare(t, spec)
	f.LaunchOrigins(t)
	s := &seeded{stage: &stage{measuring: m, Fleet: f, links: population(links)}, l2: f.L2(t, "eu"), random: rand.New(rand.NewPCG(1, 1))}
	s.made = f.Seed(t, s.links)
	before := s.used(t)
	if err := s.l2.Hold(t.Context(), s.made, nil); err != nil {
		t.Fatal(err)
	}
	s.held = s.used(t) - before
	f.LaunchEdges(t)
	f.Settle(t)
	f.AwaitFilters(t)
	if m.Full() {
		f.First(t)
		for _, e := range f.Edges {
			e.Pin(t, serversCore)
		}
	}
	return s
}

// used is the memory of the region's Redis, in bytes.
func (s *seeded) used(t *testing.T) float64 {
	t.Helper()
	bytes, err := s.l2.Used(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// population is a number of links. The order of their codes says nothing of theirs, and the maps of nginx take no notice
// of case.
func population(n int) []fleet.Link {
	links := make([]fleet.Link, n)
	for i := range links {
		links[i] = fleet.Link{Code: fmt.Sprintf("c%08x", uint32(i)*2654435761), Target: fmt.Sprintf("https://example.com/somewhere/to/go/%07d?with=a&query=b", i)}
	}
	return links
}

// visits are requests for what next picks; without a target it is unknown.
func (s *seeded) visits(n int, next func() fleet.Link) []load.Ask {
	asks := load.Visits(s.random, n, agents, next)
	for i := range asks {
		if len(asks[i].Location) == 0 {
			asks[i].Status = http.StatusNotFound
		}
	}
	return asks
}

// any picks every link as often as the others.
func (s *seeded) any() fleet.Link { return s.links[s.random.IntN(len(s.links))] }

// unknown is another code each time, which no link has.
func (s *seeded) unknown() fleet.Link {
	return fleet.Link{Code: fmt.Sprintf("u%016x", s.random.Uint64())}
}

// asked has asks made over connections of their own, which come from so many clients, by an edge or a peer.
func (s *seeded) asked(t *testing.T, addr string, clients int, asks []load.Ask, loop func(*load.Generator) (load.Result, error)) (load.Result, error) {
	t.Helper()
	g, err := load.New(load.Plan{
		Addr: addr, Conns: clients, Asks: asks,
		Classes: Tiers(), Class: func(_ int, head []byte) int { return TierOf(head) },
	})
	if err != nil {
		return load.Result{}, err
	}
	got, err := loop(g)
	if failed := g.Close(); err == nil {
		err = failed
	}
	return got, err
}

// take is asked of a candidate, with what it costs.
func (s *seeded) take(t *testing.T, c *Candidate, addr string, clients int, asks []load.Ask, loop func(*load.Generator) (load.Result, error)) (turn Turn, err error) {
	t.Helper()
	_, err = s.asked(t, addr, clients, asks, func(g *load.Generator) (load.Result, error) {
		c.Load = g
		turn, err = c.Take(loop)
		return turn.Result, err
	})
	return turn, err
}
