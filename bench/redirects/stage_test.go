package redirects

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
	"waypost/bench/peers"
)

const (
	manyCodes = 5000
	conns     = 64   // that are kept alive, each a client of its own
	agents    = 256  // kinds of browsers
	visits    = 8192 // requests that are made beforehand, and repeated
)

// serversCore is that of what is measured, loadCore that of all else.
const (
	loadCore    = 0
	serversCore = 1
)

// stage is an edge with its fleet, and peers beside it, all of which know the same links.
type stage struct {
	*measuring
	*fleet.Fleet
	links []fleet.Link
	peers []*peers.Peer
}

// stage starts all with so many links. A small run goes without what takes long to install, and without a state folder:
// an edge that was built with the race detector needs more than a gigabyte to save its positions.
func (m *measuring) stage(t *testing.T, links int) *stage {
	t.Helper()
	core := peers.Anywhere
	if m.Full() {
		core = serversCore
		fleet.PinHere(t, loadCore)
	}
	s := &stage{measuring: m, Fleet: fleet.Start(t, fleet.Spec{
		Binaries: binaries, Edges: []string{"eu"},
		EdgeEnv:   edgeEnv(),
		KeepState: m.Full(), DurablePostgres: m.Full(),
	})}
	if m.Full() {
		s.First(t)
		s.Edges[0].Pin(t, serversCore)
	}
	s.links = s.API(t).MustBulk(t, links, func(i int) fleet.Fields {
		// As the scripts of bench/wrk know them.
		return fleet.Fields{"alias": fmt.Sprintf("wk%06d", i), "target": fmt.Sprintf("https://example.com/somewhere/to/go?with=a&link=%06d", i)}
	})
	s.Settle(t)
	s.Edges[0].AwaitL1(t, s.links)
	names := []peers.Name{peers.Bare, peers.Nginx, peers.HAProxy, peers.Varnish, peers.RedisOnly, peers.Epoll}
	if !testing.Short() {
		names = append(names, peers.Express)
	}
	for _, name := range names {
		s.peers = append(s.peers, peers.Start(t, name, s.links, core))
	}
	return s
}

// edgeEnv has an edge use one core, and ask a limiter that is never used up.
func edgeEnv() map[string]string {
	return map[string]string{
		"GOMAXPROCS": "1", "WAYPOST_LIMIT_MODE": "async",
		"WAYPOST_LIMIT_RATE": "1000000", "WAYPOST_LIMIT_BURST": "1000000",
	}
}

// edge is the name of Waypost's candidate, which is always the first one.
const edge = "Waypost"

// candidates are the edge and all peers, asked for links by browsers, all of them as often.
func (s *stage) candidates(t *testing.T, links []fleet.Link) []*Candidate {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	asks := load.Visits(random, s.Times(512, visits), agents, func() fleet.Link { return links[random.IntN(len(links))] })
	all := []*Candidate{{Name: edge, PIDs: []int{s.Edges[0].PID(t)}, Load: s.generator(t, s.Edges[0].Addr, asks), Settle: s.clicksApplied(t)}}
	for _, p := range s.peers {
		theirs := asks
		if p.Constant {
			theirs = constant(asks, s.links[0].Target)
		}
		all = append(all, &Candidate{Name: string(p.Name), PIDs: p.PIDs, Load: s.generator(t, p.Addr, theirs)})
	}
	return all
}

// clicksApplied returns a function that waits until the origin has counted the clicks of so many more answers. The
// origin is asked: an edge would pay for the answer.
func (s *stage) clicksApplied(t *testing.T) func(answers int) {
	t.Helper()
	const metric = "waypost_clicks_applied_total"
	s.AwaitShipped(t)
	clicks := s.Origins[0].Metric(t, metric)
	return func(answers int) {
		clicks += float64(answers)
		for applied := s.Origins[0].Metric(t, metric); applied < clicks; {
			before := applied // a hundred thousand links take their time: it is standing still that fails
			fleet.Await(t, "more clicks are applied", func() error {
				if applied = s.Origins[0].Metric(t, metric); applied <= before {
					return fmt.Errorf("got %v, want %v", applied, clicks)
				}
				return nil
			})
		}
	}
}

// constant are the same requests, all to be answered by one target.
func constant(asks []load.Ask, target string) []load.Ask {
	same := make([]load.Ask, len(asks))
	for i, a := range asks {
		a.Location = []byte(target)
		same[i] = a
	}
	return same
}

// generator connects to a server until the test ends, and has everything asked for twice, so that what can be in the
// server's memory is. That comes at once: a server may close a connection that does not say what it is for.
func (s *stage) generator(t *testing.T, addr string, asks []load.Ask) *load.Generator {
	t.Helper()
	g, err := load.New(load.Plan{Addr: addr, Conns: s.Times(4, conns), Asks: asks})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	for answers := 0; answers < 2*len(asks); {
		got, err := g.Closed(t.Context(), s.Lasting(10*time.Millisecond, 500*time.Millisecond))
		if err != nil {
			t.Fatalf("%s: %v", addr, err)
		}
		answers += got.Answers
	}
	return g
}

// behind is the CPU so far of all that an edge has behind it, PostgreSQL only where it is the fleet's own.
func (s *stage) behind(t *testing.T) float64 {
	t.Helper()
	pids := []int{s.Origins[0].PID(t), s.NATS.PID()}
	for _, r := range s.Redis {
		pids = append(pids, r.PID())
	}
	if s.Postgres != nil {
		pids = append(pids, s.Postgres.PID())
	}
	used, err := measure.CPU(pids...)
	if err != nil {
		t.Fatal(err)
	}
	return used.Seconds() * 1e6
}
