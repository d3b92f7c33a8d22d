package positions

import (
	"context"
	"sync"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// answersWithoutNATS reads links that change while NATS is dead.
func (s *stage) answersWithoutNATS(t *testing.T) {
	const name = "nats"
	ages := NewAges()
	made := time.Now()
	links := s.bulk(t, name, 40)
	locks := make([]sync.Mutex, len(links))
	count := make([]int, len(links))
	for i, l := range links {
		// It leads to the number of its last write, 0 at first. Known to be made before the first read: that is enough.
		links[i] = s.api.MustPatch(t, l, fleet.Fields{"target": target(name, 0)})
		ages.Wrote(l.Code, made)
	}
	s.Settle(t)
	v := s.visit(t, links, 4, s.everywhere()...)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_, err := measure.Pace{Every: 50 * time.Millisecond, Jobs: forever, Workers: 16}.Run(ctx, func(_, job int) error {
			i := job % len(links)
			locks[i].Lock()
			defer locks[i].Unlock()
			w, err := s.retarget(context.WithoutCancel(ctx), links[i], "commit", target(name, count[i]+1))
			if err == nil {
				count[i]++
				ages.Wrote(links[i].Code, w.began.Add(w.took))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		_, err := measure.Pace{Every: readEvery, Jobs: forever, Workers: len(v.conns)}.Run(ctx, func(worker, job int) error {
			i := job % len(links)
			invoked := time.Now()
			r, err := v.ask(worker, i)
			if err != nil {
				return err
			}
			n, err := numberOf(r)
			if err == nil {
				ages.Read(links[i].Code, n, invoked, r.Tier() == "stale")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	fleet.Pass(t, s.Lasting(200*time.Millisecond, 2*time.Second))
	s.NATS.Kill()
	fleet.Pass(t, s.Lasting(1200*time.Millisecond, 20*time.Second))
	if err := s.NATS.Restart(t.Context()); err != nil {
		t.Error(err)
	}
	fleet.Pass(t, s.Lasting(200*time.Millisecond, 3*time.Second))
	cancel()
	all.Wait()
	old, marked := ages.Unmarked()
	s.Found(t, measure.Figure{
		Name: "oldest unmarked answer, NATS killed for 20 s", Unit: "unmarked answers", N: old.N(),
		Values: []measure.Value{
			measure.Most("max", old.Millis(1), measure.Millis(bound), "ms"),
			measure.Number("p99", old.Millis(0.99), "ms"),
			measure.Least("unmarked", 100*float64(old.N())/float64(max(old.N()+marked, 1)), 99.9, "%"),
		},
		Method: "40 links, of which one changes every 50 ms, with `ack=commit`; 400 reads a second over four edges, by an open loop, from 2 s " +
			"before NATS is killed until 3 s after it is back. Each target carries its change's number. An answer's age is the time from the " +
			"moment at which the writer had the answer to the first change that it does not show, to its being asked for; 0 where it lacks none.",
	})
	s.joined(t, len(s.Edges))
}
