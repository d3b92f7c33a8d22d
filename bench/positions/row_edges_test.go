package positions

import (
	"fmt"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// writeEvery is the time from one write that waits for the edges to the next: 50 a second.
const writeEvery = 20 * time.Millisecond

// writeSlack is what a write may take beside the way to the edges and back.
const writeSlack = 20 * time.Millisecond

const edgesMethod = "50 updates of links a second with `ack=edges`, by an open loop; the time is the writer's, from sending the call " +
	"to having its answer, over loopback to the origin: it has the commit, its flush to disk, and the wait for all edges. " +
	"One round trip is twice the line's delay."

// writesFor measures writes that wait for edges d away.
func (s *stage) writesFor(t *testing.T, d time.Duration) {
	t.Helper()
	links := s.bulk(t, "edges", s.Times(20, 500))
	all, late := s.write(t, writeEvery, s.Times(25, 1000), links, "edges")
	short := 0
	for _, w := range all {
		if w.receipt.Edges != len(s.Edges) || w.receipt.Acked != len(s.Edges) {
			short++
		}
	}
	times := took(all, nil)
	s.Found(t, measure.Figure{
		Name: fmt.Sprintf("write with `ack=edges`, edges %s away", d), Unit: "writes", N: times.N(), Method: edgesMethod,
		Values: []measure.Value{
			measure.Number("p50", times.Millis(0.5), "ms"),
			measure.Most("p99", times.Millis(0.99), measure.Millis(2*d+writeSlack), "ms"),
			measure.Number("max", times.Millis(1), "ms"),
			measure.Most("not acknowledged by all", float64(short), 0, ""),
			measure.Number("load late p99", late.Millis(0.99), "ms"),
		},
	})
}

func (s *stage) writesWithNoDelay(t *testing.T) { s.writesFor(t, 0) }

func (s *stage) writesFar(t *testing.T) {
	defer s.distance(t, 0)
	for _, d := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond} {
		s.distance(t, d)
		s.writesFor(t, d)
	}
}

func (s *stage) writesWithAnEdgeStopped(t *testing.T) {
	const every = 25 * time.Millisecond
	links := s.bulk(t, "stopped", 100)
	last := len(s.Edges) - 1
	stopped := s.Edges[last]
	var all, after []written
	for range s.Times(1, 5) {
		stopped.Pause()
		some, _ := s.write(t, every, int(s.Lasting(2500*time.Millisecond, 5*time.Second)/every), links, "edges")
		gone := s.leftAt(t, fmt.Sprintf("us-%d", last)).Add(bound)
		stopped.Resume()
		for _, w := range some {
			if w.began.After(gone) {
				after = append(after, w)
			}
		}
		all = append(all, some...)
		s.joined(t, len(s.Edges))
	}
	const method = "40 updates of links a second with `ack=edges`, by an open loop, from the moment on at which one of the four edges is " +
		"stopped by SIGSTOP, for 5 s, 5 times over; timed as with `ack=edges` above. `left_at` is read from PostgreSQL. B is 1 s."
	times := took(all, nil)
	slowed := took(all, func(w written) bool { return w.took > bound/2 })
	s.Found(t, measure.Figure{
		Name: "write with `ack=edges`, one edge stopped", Unit: "writes", N: times.N(), Method: method,
		Values: []measure.Value{
			measure.Most("max", times.Millis(1), measure.Millis(bound+50*time.Millisecond), "ms"),
			measure.Number("held up for more than B/2", float64(slowed.N()), ""),
		},
	})
	times = took(after, nil)
	s.Found(t, measure.Figure{
		Name: "the same, begun after the edge's `left_at` + B", Unit: "writes", N: times.N(), Method: method,
		Values: []measure.Value{
			measure.Number("p50", times.Millis(0.5), "ms"),
			measure.Most("p99", times.Millis(0.99), measure.Millis(writeSlack), "ms"),
			measure.Most("max", times.Millis(1), measure.Millis(bound/2), "ms"),
		},
	})
}

// leftAt waits until an edge has been taken off, and says when, by PostgreSQL's clock.
func (s *stage) leftAt(t *testing.T, id string) (at time.Time) {
	t.Helper()
	conn := s.database(t)
	defer conn.Close(t.Context()) //nolint:errcheck // what was asked is here
	fleet.Await(t, id+" is taken off", func() error {
		return conn.QueryRow(t.Context(), "SELECT left_at FROM edge_member WHERE id = $1 AND left_at < 'infinity' ORDER BY joined_at DESC LIMIT 1", id).Scan(&at)
	})
	return at
}
