package e2e

import (
	"net/http"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/shared/failpoint"
)

// Whatever clicks cannot get through, no visitor of a link that is known notices, and afterwards each counts once.
func TestClicksWaitForWhatIsDownAndVisitorsDoNot(t *testing.T) {
	t.Parallel()
	c := count(t, start(t, fleet.Spec{KeepState: true, PrivatePostgres: true, ProxyEdges: true}))
	tr := traffic{edges: c.Edges, links: numbered(t, c.api, "outage", 20), visitors: 2, pause: 5 * time.Millisecond}
	c.Settle(t)
	// What is answered from memory already is what needs nobody.
	for range 2 {
		atEvery(c.Edges, func(e *fleet.Edge) { allLead(t, e, 1, tr.links) })
	}
	const known = 2 * 2 // clicks of each link
	end := tr.begin(t)
	during := func(what string, do func()) {
		t.Helper()
		tr.slowest.Store(0)
		from := tr.total()
		do()
		n := tr.total() - from
		t.Logf("%s: %d clicks, the slowest took %v", what, n, time.Duration(tr.slowest.Load()).Round(10*time.Microsecond))
		if n == 0 {
			t.Errorf("%s: nobody was answered", what)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	down := long(2*time.Second, time.Minute)
	for _, fault := range []struct {
		name     string
		do, undo func()
	}{
		{"redis down", func() {
			for _, r := range c.Redis {
				r.Kill()
			}
		}, func() {
			for _, r := range c.Redis {
				must(r.Restart(t.Context()))
			}
		}},
		{"nats down", c.NATS.Kill, func() { must(c.NATS.Restart(t.Context())) }},
		{"postgres down", c.Postgres.Kill, func() { must(c.Postgres.Restart(t.Context())) }},
		{"origin down", c.Origins[0].Kill, func() { c.Origins[0].Start(t) }},
	} {
		during(fault.name, func() {
			fault.do()
			fleet.Pass(t, down)
		})
		fault.undo()
		for _, e := range c.Edges {
			e.AwaitPart(t, "origin", "ok", http.StatusOK, "ok")
		}
	}
	during("answers of the origin lost", func() { c.reset(t, down) })
	end()
	c.settle(t)
	for i := range tr.answered {
		tr.answered[i].Add(known)
	}
	tr.counted(t, c)
}

// reset breaks the connections between edges and the origin again and again, so that many a stretch is counted and its
// edge does not hear of it.
func (c *counting) reset(t *testing.T, d time.Duration) {
	t.Helper()
	for began := time.Now(); time.Since(began) < d; {
		fleet.Pass(t, 7*time.Millisecond)
		for _, e := range c.Edges {
			e.ToOrigins[0].Reset()
		}
	}
}

func TestOriginKilledAroundTheCommitOfAStretchCountsItOnce(t *testing.T) {
	t.Parallel()
	f := fleet.Start(t, fleet.Spec{Binaries: armable, Failpoints: true, KeepState: true, OriginEnv: map[string]string{"WAYPOST_STALE_BOUND": "5s"}})
	c := count(t, f)
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/killed"})
	c.Settle(t)
	atEvery(c.Edges, func(e *fleet.Edge) { clicks(t, e, l, 1, 1) })
	total, origin := uint64(2), c.Origins[0]
	for range long(1, 10) {
		for _, point := range []failpoint.Point{failpoint.StretchSent, failpoint.StretchKept} {
			origin.Arm(t, point, failpoint.Kill)
			atEvery(c.Edges, func(e *fleet.Edge) { clicks(t, e, l, 4, 100) })
			origin.AwaitHit(t, point)
			origin.AwaitEnd(t)
			atEvery(c.Edges, func(e *fleet.Edge) { clicks(t, e, l, 4, 100) })
			total += 400
			origin.Start(t)
		}
	}
	c.settle(t)
	c.has(t, l, total, 0)
}
