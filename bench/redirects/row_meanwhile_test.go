package redirects

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/bench/measure"
)

// changesPerSecond is how many changes there are, and changesMost for how many seconds of a turn.
const (
	changesPerSecond = 200
	changesMost      = 60
)

const changesMethod = "%s Changes are of titles of links drawn alike, so that every answer stays what it has to be; each is a change as any other: it reaches the edge, raises floors, replaces what L1 and L2 hold. " +
	"They are made at the API with ack=commit by an open loop while the edge is asked. " +
	"Throughput is saturation, in which all that changes cost is charged to the answers that there were."

// underChanges measures what 200 changes a second leave of an edge's throughput.
func (s *skewed) underChanges(t *testing.T) {
	api := s.API(t)
	changes := 0
	turns, method := s.turns(t, func(t *testing.T) (looped, counted func()) {
		t.Helper()
		picks := make([]fleet.Link, changesPerSecond*changesMost)
		for i := range picks {
			picks[i] = s.byRank()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			pace := measure.Pace{Every: time.Second / changesPerSecond, Jobs: len(picks), Workers: 8}
			calls := context.WithoutCancel(ctx) // those that were made are waited for
			done, err := pace.Run(ctx, func(_, job int) error { return retitle(calls, api, picks[job], job) })
			if changes += done.N(); err != nil {
				t.Errorf("changes: %v", err)
			}
		})
		return func() { cancel(); running.Wait() }, func() {}
	})
	s.foundBeside(t, fmt.Sprintf("under %d changes a second", changesPerSecond), turns, fmt.Sprintf(changesMethod, method),
		measure.Least("throughput against none", 0, 0.95, "×"), measure.Number("changes", float64(changes), ""))
}

// retitle changes a link's title.
func retitle(ctx context.Context, api *fleet.API, l fleet.Link, n int) error {
	answer, err := api.Do(ctx, http.MethodPatch, "/links/"+l.Code+"?ack=commit", fleet.Fields{"title": fmt.Sprintf("title %d", n)})
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("title of %s: status %d: %s", l.Code, answer.Status, answer.Body)
	}
	return err
}

// foundBeside tells what goes on beside leaves of the saturation.
func (s *skewed) foundBeside(t *testing.T, name string, turns [][]Turn, method string, against measure.Value, more ...measure.Value) {
	t.Helper()
	s.Found(t, measure.Figure{
		Name: "redirects by Zipf's law " + name, Unit: "redirects", N: Answers(turns[1]), Method: method,
		Values: append([]measure.Value{
			against.Of(Ratios(turns[0], turns[1], Turn.PerAnswer)), // of saturations
			measure.Number("CPU", 0, "µs").Of(Each(turns[1], Turn.PerAnswer)), measure.Number("CPU with none", 0, "µs").Of(Each(turns[0], Turn.PerAnswer)),
		}, more...),
	})
}

// idleConns are kept alive and not used.
const idleConns = 10_000

const idleMethod = "%s %d further connections, each from an address of its own or one of the others', have been used once, by a HEAD, and are kept alive. " +
	"Memory is by the edge's process_resident_memory_bytes before they came and while they are there, at the end of the turn."

// besideIdle measures what connections cost that are there and ask for nothing.
func (s *skewed) besideIdle(t *testing.T) {
	n := s.Times(200, idleConns)
	resident := func() float64 { return s.Edges[0].Metric(t, "process_resident_memory_bytes") }
	var each []float64
	turns, method := s.turns(t, func(t *testing.T) (looped, counted func()) {
		t.Helper()
		before := resident()
		idle, err := load.New(load.Plan{Addr: s.Edges[0].Addr, Conns: n, Asks: []load.Ask{head(s.links[0])}})
		if err == nil {
			_, err = idle.Closed(t.Context(), time.Nanosecond)
		}
		if err != nil {
			t.Fatalf("idle connections: %v", err)
		}
		return func() {}, func() {
			each = append(each, (resident()-before)/float64(n)/1024)
			if err := idle.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	s.foundBeside(t, fmt.Sprintf("beside %d idle connections", n), turns, fmt.Sprintf(idleMethod, method, n),
		measure.Number("throughput against none", 0, "×"), measure.Number("memory of a connection, as the first ones came", each[0], "KiB"))
}

// head asks for a link without being counted.
func head(l fleet.Link) load.Ask {
	return load.Ask{
		Request: fmt.Appendf(nil, "HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n", l.Path()),
		Status:  http.StatusFound, Location: []byte(l.Target),
	}
}
