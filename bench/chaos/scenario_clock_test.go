package chaos

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"waypost/bench/fleet"
	"waypost/shared/failpoint"
)

// clockOff is how far an edge's estimate of PostgreSQL's clock may be off: half of the longest round trip that a probe
// may take, a second.
const clockOff = 500 * time.Millisecond

// clocksOff starts edges whose clocks are ten minutes fast and ten minutes slow, while links begin and end at given
// times. They do so everywhere at once, by PostgreSQL's clock.
func clocksOff(w *world) {
	timed := w.timedLinks(w.times(30, 300), w.long(time.Second, 2*time.Second), w.long(3*time.Second, 30*time.Second))
	stop := w.watch(timed)
	defer stop()
	w.fault("all edges started with wrong clocks", func() {
		for i, e := range w.Edges {
			e.Arm(w.t, failpoint.WallClock, []string{"10m", "-10m"}[i%2])
			e.Kill()
		}
		w.launchEdges()
		for _, e := range w.Edges {
			e.AwaitHit(w.t, failpoint.WallClock)
			e.AwaitReady(w.t)
		}
	})
	last := timed[len(timed)-1].at.Add(clockOff)
	w.pass(max(0, time.Until(last)) + w.long(100*time.Millisecond, bound))
	stop()
	w.result.Counts["links that began or ended"] = len(timed)
	w.result.Counts["µs past that at most"] = int(w.latest(timed).Microseconds())
}

// timedLink is a link that begins or ends at a time, by PostgreSQL's clock.
type timedLink struct {
	key    string
	at     time.Time
	before Sight
}

// timedLinks makes links whose times are spread evenly between two moments from now, by turns an end and a beginning. On a
// busy machine they are later: a link whose end has passed cannot be made any more.
func (w *world) timedLinks(n int, from, until time.Duration) (all []timedLink) {
	w.t.Helper()
	start := time.Now()
	for i := range n {
		key := fmt.Sprintf("%s-timed-%d", w.load.Name, i)
		at := start.Add(from + (until-from)*time.Duration(i)/time.Duration(n))
		if soonest := time.Now().Add(2 * time.Second); at.Before(soonest) {
			at = soonest
		}
		at = at.Truncate(time.Microsecond).UTC()
		class := []string{"available", "strict"}[i/2%2]
		fields := fleet.Fields{"alias": key, "target": target(key, 1), "class": class}
		before, after, field := Sight{http.StatusFound, 1}, Sight{Status: http.StatusGone}, "expires_at"
		if i%2 == 1 {
			before, after, field = absent(), Sight{http.StatusFound, 1}, "starts_at"
		}
		fields[field] = at.Format(time.RFC3339Nano)
		l := &written{key: key, class: class}
		maker := &writer{history: w.h, origins: w.load.Origins, random: w.random}
		if err := maker.make(w.t.Context(), l, step{"create", http.MethodPost, fields, before}); err != nil {
			w.t.Fatal(err)
		}
		w.h.Passing(Write{Key: key, N: 2, Kind: field, Shows: after, Strict: class == "strict"}, at, clockOff)
		all = append(all, timedLink{key, at, before})
	}
	return all
}

// watch reads these links on every edge, one after the other, until stop is called.
func (w *world) watch(links []timedLink) (stop func()) {
	keys := make([]string, len(links))
	for i, l := range links {
		keys[i] = l.key
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	var readers sync.WaitGroup
	for i, e := range w.Edges {
		const conns = 4
		for c := range conns {
			next := uint64(c * len(keys) / conns)
			r := &reader{history: w.h, edge: e, index: i, boot: &w.load.Boots[i], keys: keys, every: 10 * time.Millisecond}
			r.pick = func() uint64 {
				next++
				return next % uint64(len(keys))
			}
			readers.Go(func() { r.run(ctx) })
		}
	}
	return func() {
		cancel()
		readers.Wait()
	}
}

// latest is for how long after its time a link was seen to be as before, at most.
func (w *world) latest(links []timedLink) (most time.Duration) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	for _, l := range links {
		at := l.at.Sub(w.h.start)
		for _, r := range w.h.reads[l.key] {
			if r.Sight == l.before {
				most = max(most, r.Invoked-at)
			}
		}
	}
	return most
}
