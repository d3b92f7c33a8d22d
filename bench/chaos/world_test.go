package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/deploy/services"
)

// bound is B, how old an unmarked answer may be.
const bound = time.Second

// world is a stage under load.
type world struct {
	*stage
	t      *testing.T
	h      *History
	load   *Load
	stop   func()     // ends the load
	random *rand.Rand // of the faults
	result Result     // of the histories that have been judged, and what the scenario counts
}

// play loads a stage until all links were made, plays the faults, waits until all is well again, and judges everything
// that was read.
func play(t *testing.T, stage *stage, s scenario) Result {
	t.Helper()
	w := &world{stage: stage, t: t, h: NewHistory()}
	w.result = Result{Scenario: s.name, Seed: w.seed, Violations: map[string]int{}, Counts: map[string]int{}}
	w.load = &Load{
		History: w.h, Edges: w.Edges, Boots: w.boots, Seed: w.seed, Name: s.name,
		Links: 40, Readers: 2, Reads: 50, Writers: 8, Writes: 100,
	}
	if s.load != nil && !testing.Short() {
		s.load(w.load)
	}
	w.random = w.load.random(0, 0)
	for _, o := range w.Origins {
		w.load.Origins = append(w.load.Origins, w.APIOf(t, o))
	}
	w.begin()
	w.made()
	s.play(w)
	w.healthy()
	w.pass(w.long(300*time.Millisecond, 2*time.Second))
	w.stop()
	w.last()
	w.judge()
	t.Logf("%d lost writes; %s", w.result.lost(), w.result.also())
	return w.result
}

// begin runs the load until it is stopped, or the test ends.
func (w *world) begin() {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, err := range w.load.Run(ctx) {
			w.t.Error(err)
		}
	}()
	w.stop = func() {
		cancel()
		<-ended
	}
	w.t.Cleanup(w.stop)
}

// anew begins a history in place of the one that there was, which is judged.
func (w *world) anew() {
	w.t.Helper()
	w.judge()
	w.h = NewHistory()
	w.load.History = w.h
}

// made waits until every link has been made.
func (w *world) made() {
	w.t.Helper()
	fleet.Await(w.t, "all links are made", func() error {
		if n := w.h.Sum().Keys; n < w.load.Links {
			return fmt.Errorf("%d of %d", n, w.load.Links)
		}
		return nil
	})
}

// long is a time of the short or the long version.
func (w *world) long(short, long time.Duration) time.Duration {
	if testing.Short() {
		return short
	}
	return long
}

// times is a number of rounds of the short or the long version.
func (w *world) times(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}

// upTo draws a time.
func (w *world) upTo(most time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(most)))
}

// paths are all the ways on which edges of a region reach origins and NATS.
func (w *world) paths(region string) (paths []*services.Proxy) {
	for _, e := range w.Edges {
		if e.Region == region {
			paths = append(append(paths, e.ToOrigins...), e.ToNATS)
		}
	}
	return paths
}

// reboot kills an edge and starts it again.
func (w *world) reboot(edge int) {
	w.t.Helper()
	w.Edges[edge].Kill()
	w.load.Boots[edge].Add(1)
	w.Edges[edge].Start(w.t)
}

// launchEdges starts all edges, which were killed.
func (w *world) launchEdges() {
	w.t.Helper()
	for i, e := range w.Edges {
		w.load.Boots[i].Add(1)
		e.Launch(w.t)
	}
}

// originsReady waits until every origin reaches PostgreSQL.
func (w *world) originsReady() {
	w.t.Helper()
	for _, o := range w.Origins {
		o.AwaitReady(w.t)
	}
}

func (w *world) pass(d time.Duration) {
	w.t.Helper()
	fleet.Pass(w.t, d)
}

// healthy waits until every edge reaches an origin again, and has caught up so far that it knows the newest state of
// all shards.
func (w *world) healthy() {
	w.t.Helper()
	for _, e := range w.Edges {
		e.AwaitPart(w.t, "origin", "ok", http.StatusOK, "ok")
	}
	w.leased()
}

// leased waits until every edge holds a lease of every shard.
func (w *world) leased() {
	w.t.Helper()
	for _, e := range w.Edges {
		fleet.Await(w.t, e.Name+" holds every lease", func() error {
			m, err := e.Metrics(w.t.Context())
			if err != nil {
				return err
			}
			age, err := m.Sum("waypost_edge_lease_age_seconds")
			if err == nil && age > bound.Seconds() {
				err = fmt.Errorf("the oldest is %.1f s old", age)
			}
			return err
		})
	}
}

// fault plays a fault that edges may notice. It lasts until all edges are healthy again.
func (w *world) fault(name string, do func()) {
	w.t.Helper()
	from := w.h.Now()
	do()
	over := w.h.Now()
	w.healthy()
	until := w.h.Now()
	w.h.Fault(Fault{Name: name, From: from, Until: until})
	w.t.Logf("%s: %s, and %s until all edges were healthy", name, ms(over-from), ms(until-over))
}

// last reads every link on every edge once more; in the long version when the bound of every write has passed.
func (w *world) last() {
	w.t.Helper()
	w.pass(w.long(0, bound+100*time.Millisecond))
	for e, edge := range w.Edges {
		conn, err := fleet.Connect(w.t.Context(), edge.Addr, netip.Addr{})
		if err != nil {
			w.t.Fatal(err)
		}
		r := &reader{history: w.h, edge: edge, index: e}
		for i := range w.load.Links {
			if !r.read(conn, int(w.load.Boots[e].Load()), w.load.Key(i)) {
				w.t.Errorf("%s did not answer", edge.Name)
				break
			}
		}
		_ = conn.Close()
	}
}
