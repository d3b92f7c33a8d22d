package positions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"waypost/bench/chaos"
	"waypost/bench/fleet"
)

// bound is B, how old an unmarked answer may be.
const bound = time.Second

// The beginnings of NATS subjects: of a fleet whose edges and origins hear each other, and of both where a relay is
// between them.
const (
	prefix       = "waypost"
	edgePrefix   = "far"
	originPrefix = "near"
)

// stage is a running fleet on which rows are measured, one after the other.
type stage struct {
	*measuring
	*fleet.Fleet
	api   *fleet.API
	lines []*Line // between edges and all that is central
	tap   *tap    // on the way of an edge's calls to the origin; nil: none
}

// distance puts edges away from all that is central, by a time one way, and waits until they are all right there.
func (s *stage) distance(t *testing.T, d time.Duration) {
	t.Helper()
	for _, l := range s.lines {
		l.Delay(d)
	}
	s.joined(t, len(s.Edges))
}

// near is a fleet in which nothing is between edges and origin.
func (m *measuring) near(t *testing.T) *stage {
	t.Helper()
	s := &stage{measuring: m, Fleet: fleet.Prepare(t, m.regions())}
	return s.ready(t)
}

// single is a fleet of one edge, which keeps its positions over a restart.
func (m *measuring) single(t *testing.T) *stage {
	t.Helper()
	spec := m.spec("eu")
	spec.KeepState = true
	s := &stage{measuring: m, Fleet: fleet.Prepare(t, spec)}
	return s.ready(t)
}

// regions is a fleet of two regions, of two edges each; in a small run, of one. Its commits are noted.
func (m *measuring) regions() fleet.Spec {
	spec := m.spec("eu", "us")
	if m.Full() {
		spec = m.spec("eu", "eu", "us", "us")
	}
	spec.DurablePostgres = true
	return spec
}

// spec is what fleets have in common. A small run goes without what takes time or memory: an edge that was built with
// the race detector needs more than a gigabyte to save its positions.
func (m *measuring) spec(edges ...string) fleet.Spec {
	return fleet.Spec{Binaries: binaries, Edges: edges, DurablePostgres: m.Full(), KeepState: m.Full()}
}

// far is a fleet whose edges reach NATS and origin by a line.
func (m *measuring) far(t *testing.T) *stage {
	t.Helper()
	toNATS, toOrigin := newLine(t), newLine(t)
	s := &stage{measuring: m, lines: []*Line{toNATS, toOrigin}}
	spec := m.regions()
	spec.EdgeEnv = map[string]string{
		"WAYPOST_NATS_URL": "nats://" + toNATS.Addr(), "WAYPOST_ORIGIN_URL": "http://" + toOrigin.Addr(),
	}
	s.Fleet = fleet.Prepare(t, spec)
	toNATS.To(s.NATS.Addr())
	toOrigin.To(s.Origins[0].Internal)
	return s.ready(t)
}

// tapped is a fleet of one edge that hears of no change by NATS, while its probes pass there, and whose calls to the
// origin go by a line and a tap.
func (m *measuring) tapped(t *testing.T) *stage {
	t.Helper()
	line := newLine(t)
	s := &stage{measuring: m, lines: []*Line{line}, tap: newTap(t)}
	spec := m.spec("eu")
	spec.EdgeEnv = map[string]string{"WAYPOST_NATS_PREFIX": edgePrefix, "WAYPOST_ORIGIN_URL": "http://" + line.Addr()}
	spec.OriginEnv = map[string]string{"WAYPOST_NATS_PREFIX": originPrefix}
	s.Fleet = fleet.Prepare(t, spec)
	relay, err := chaos.NewRelay(s.NATS.URL(), edgePrefix, originPrefix, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	relay.Hurt(1)
	runs(t, func(ctx context.Context) error {
		relay.Run(ctx)
		return nil
	})
	s.tap.to(t, s.Origins[0].Internal)
	line.To(s.tap.addr())
	return s.ready(t)
}

// ready starts the services and waits until a write is acknowledged by every edge.
func (s *stage) ready(t *testing.T) *stage {
	t.Helper()
	if s.Postgres != nil {
		s.noteCommits(t)
	}
	s.Launch(t)
	s.api = s.API(t)
	s.joined(t, len(s.Edges))
	return s
}

// joined waits until a write is acknowledged by this many edges, and by all that it was sent to.
func (s *stage) joined(t *testing.T, edges int) {
	t.Helper()
	fleet.Await(t, fmt.Sprintf("%d edges acknowledge", edges), func() error {
		answer, err := s.api.Do(t.Context(), http.MethodPost, "/links", fleet.Fields{"target": "https://example.com/joined"})
		if err != nil {
			return err
		}
		r, err := answer.Receipt()
		if err == nil && (r.Edges != edges || r.Acked != edges) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

// newLine is a line that runs until the test ends.
func newLine(t *testing.T) *Line {
	t.Helper()
	line, err := NewLine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runs(t, line.Run)
	return line
}

// runs lets something run until the test ends.
func runs(t *testing.T, run func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
