package positions

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

func (s *stage) hitBesideAFill(t *testing.T) {
	const conns = 8
	held := s.Lasting(300*time.Millisecond, 3*time.Second)
	var hits, fills []time.Duration
	for round := range s.Times(1, 3) {
		links := s.bulk(t, fmt.Sprintf("pipeline-%d", round), 1+conns)
		hot, cold := links[0], links[1:]
		s.visit(t, links[:1], 1, 0).warm(t)
		s.tap.hold(held)
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, l := range cold {
			conn := s.Edges[0].Dial(t)
			all.Go(func() {
				hit, fill, err := pipelined(conn, hot, l)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				hits, fills = append(hits, hit), append(fills, fill)
			})
		}
		all.Wait()
	}
	hit, fill := measure.NewSample(hits), measure.NewSample(fills)
	if fill.Quantile(0) < held*9/10 {
		t.Errorf("a fill took %s, want it held for %s", fill.Quantile(0), held)
	}
	s.Found(t, measure.Figure{
		Name: "a hit with a fill of 3 s behind it on its connection", Unit: "pairs", N: hit.N(),
		Values: []measure.Value{
			measure.Number("p50", hit.Millis(0.5), "ms"),
			measure.Most("max", hit.Millis(1), 50, "ms"),
			measure.Number("the fill's least", fill.Millis(0), "ms"),
		},
		Method: "Two requests in one write on one connection: one for a link in L1, one for a link that no edge has read, whose fill a " +
			"proxy before the origin holds until 3 s have passed. The time is from the write to the first one's whole answer. Eight such " +
			"connections at once, three times.",
	})
}

// pipelined sends two requests at once and says when the answer of each was there.
func pipelined(conn *fleet.Conn, links ...fleet.Link) (first, second time.Duration, err error) {
	var raw string
	for _, l := range links {
		raw += fleet.Request{Path: l.Path()}.Bytes()
	}
	began := time.Now()
	if err := conn.Send(raw); err != nil {
		return 0, 0, err
	}
	var at [2]time.Duration
	for i, l := range links {
		r, err := conn.Receive("GET")
		at[i] = time.Since(began)
		if err == nil && r.Location() != l.Target {
			err = fmt.Errorf("answer %d: status %d to %q (%s), want %q", i, r.Status, r.Location(), r.Header.Get("Cache-Status"), l.Target)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return at[0], at[1], nil
}
