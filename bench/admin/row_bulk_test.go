package admin

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// perBulk is the most items of a call.
const perBulk = 1000

// bulks times single calls, one after the other.
func (s *stage) bulks(t *testing.T) {
	times := make([]time.Duration, s.Times(1, 20))
	for i := range times {
		items := s.items(perBulk)
		began := time.Now()
		if _, err := s.api.Bulk(t.Context(), items); err != nil {
			t.Fatal(err)
		}
		times[i] = time.Since(began)
	}
	sample := measure.NewSample(times)
	s.Found(t, measure.Figure{
		Name: "a call of `POST /links/bulk` with 1,000 items", Unit: "calls", N: sample.N(),
		Values: []measure.Value{
			measure.Number("p50", sample.Millis(0.5), "ms"), measure.Most("max", sample.Millis(1), 2000, "ms"),
		},
		Method: "One call after the other, from the first byte of its body being sent to the answer having been read; until both edges have acknowledged all 1,000.",
	})
}

// items are the bodies of the next n links.
func (s *stage) items(n int) []fleet.Fields {
	items := make([]fleet.Fields, n)
	for i := range items {
		items[i] = link(s.made)
		s.made++
	}
	return items
}

// grow makes links until there are n, over several connections, and tells how fast, and what it took of the origin's
// memory.
func (s *stage) grow(t *testing.T, n int) {
	t.Helper()
	const connections = 4 // as many as an origin carries out at the same time
	calls := (n - s.made) / perBulk
	if calls == 0 {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var done atomic.Int64
	before := s.resident(t)
	watched := make(chan memory, 1)
	go func() { watched <- s.watch(ctx, &done, calls) }()
	bodies := make(chan []fleet.Fields)
	go func() {
		defer close(bodies)
		for range calls {
			select {
			case bodies <- s.items(perBulk):
			case <-ctx.Done():
				return
			}
		}
	}()
	began := time.Now()
	_, err := measure.Pace{Jobs: calls, Workers: connections}.Run(ctx, func(_, _ int) error {
		items, ok := <-bodies
		if !ok {
			return ctx.Err()
		}
		_, err := s.api.Bulk(ctx, items)
		if n := done.Add(1); n%50 == 0 {
			t.Logf("%d of %d links, %.0f/s", n*perBulk, calls*perBulk, float64(n*perBulk)/time.Since(began).Seconds())
		}
		return err
	})
	took := time.Since(began)
	cancel()
	m := <-watched
	if err != nil {
		t.Fatal(err)
	}
	made := calls * perBulk
	s.Found(t, measure.Figure{
		Name: fmt.Sprintf("creation of %d links in bulk", made), Unit: "links", N: made,
		Values: []measure.Value{
			measure.Least("rate", float64(made)/took.Seconds(), 2000, "/s"), measure.Number("took", took.Seconds(), "s"),
		},
		Method: fmt.Sprintf("Calls of `POST /links/bulk` with 1,000 items each over %d connections, each next one as soon as the one before is answered.", connections),
	})
	s.Found(t, measure.Figure{
		Name: "memory of the origin meanwhile", Unit: "looks", N: m.looks,
		Values: []measure.Value{
			measure.Number("before", before, "MiB"), measure.Number("most in the first half", m.most[0], "MiB"),
			measure.Number("most in the second half", m.most[1], "MiB"), measure.Number("after", s.resident(t), "MiB"),
			measure.Most("second half / first half", m.most[1]/m.most[0], 1.2, ""),
		},
		Method: "Resident memory by the origin's process_resident_memory_bytes, five times a second. It is flat if the second half of the links takes no more than the first.",
	})
}

const mebi = 1 << 20

// resident is what the origin has in memory, in MiB.
func (s *stage) resident(t *testing.T) float64 {
	t.Helper()
	return s.Origins[0].Metric(t, metricResident) / mebi
}

const metricResident = "process_resident_memory_bytes"

// memory is what was seen of the origin's memory, in MiB, in each half of the work.
type memory struct {
	most  [2]float64
	looks int
}

// watch looks at the origin's memory while calls are done, until ctx ends.
func (s *stage) watch(ctx context.Context, done *atomic.Int64, calls int) (m memory) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if all, err := s.Origins[0].Metrics(ctx); err == nil {
			half := min(int(done.Load())*2/calls, 1)
			m.most[half] = max(m.most[half], all[metricResident]/mebi)
			m.looks++
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return m
		}
	}
}
