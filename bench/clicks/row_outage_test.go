package clicks

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

// outageRate is how many clicks a second come while the origin is away and after it.
const outageRate = 5000

// outage is what was seen of one.
type outage struct {
	answers   uint64 // of clicks, before, in and after it
	refused   uint64 // answers that were no redirects
	clicks    float64
	grown     float64 // bytes on disk, while the origin was away
	drained   float64 // clicks taken from the first one on until the edge was not behind any more
	took      time.Duration
	first     time.Duration // from the origin's being ready to the first click that it took
	late      measure.Sample
	uncounted float64 // answers without a click, or clicks without an answer
}

func (s *stage) originAway(t *testing.T) {
	links := s.links(t, s.Times(20, 1000))
	got := s.outage(t, links, s.Lasting(time.Second, 20*time.Second))
	perClick, rate := got.grown/got.clicks, got.drained/got.took.Seconds()
	const hour = outageRate * 3600
	const method = "5,000 clicks a second by an open loop, from 2 s before the origin is killed until the edge has caught up; the origin is started again after 20 s. 1,000 links (Zipf 1.1), 256 agents, " +
		"30 referring hosts. Spool and clicks taken are the edge's metrics. The drain counts from the last moment at which the origin had taken none to the first at which less than a second of clicks waits, while " +
		"further ones come. The hour is 18 million clicks at as many bytes, above what `WAYPOST_CLICKS_DISK` has by default (1 GiB), beyond which the oldest are added up; its drain is at the measured rate, while 5,000 more come each second."
	s.Found(t, measure.Figure{
		Name: "spool while the origin is away", Unit: "clicks in the outage", N: int(got.clicks), Method: method,
		Values: []measure.Value{
			measure.Number("disk", perClick, "bytes a click"),
			measure.Number("in an hour", perClick*hour/(1<<30), "GiB"),
			measure.Most("answers that were no redirects", float64(got.refused), 0, ""),
			measure.Number("load late p99", got.late.Millis(0.99), "ms"),
		},
	})
	s.Found(t, measure.Figure{
		Name: "drain when the origin is back", Unit: "clicks drained", N: int(got.drained), Method: method,
		Values: []measure.Value{
			measure.Number("drain", rate, "clicks/s"), measure.Number("took", got.took.Seconds(), "s"),
			measure.Number("began after", measure.Millis(got.first), "ms"),
			measure.Number("after an hour it would take", hour/max(rate-outageRate, 1), "s"),
			measure.Most("clicks not counted or counted twice", got.uncounted, 0, ""),
		},
	})
}

// outage has clicks come while the origin is away for a time, and until they are drained.
func (s *stage) outage(t *testing.T, links []fleet.Link, away time.Duration) (got outage) {
	t.Helper()
	edge, origin := s.Edges[0], s.Origins[0]
	shipped := edge.Metric(t, metricShipped)
	load, stop := s.clicking(t, links)
	fleet.Pass(t, s.Lasting(200*time.Millisecond, 2*time.Second))
	origin.Kill()
	frames, disk := edge.Metric(t, metricFrames), edge.Metric(t, metricDisk)
	fleet.Pass(t, away)
	got.clicks, got.grown = edge.Metric(t, metricFrames)-frames, edge.Metric(t, metricDisk)-disk
	taken := edge.Metric(t, metricShipped)
	origin.Start(t)
	ready := time.Now()
	first := ready
	fleet.Await(t, "the edge has caught up", func() error {
		m, err := edge.Metrics(t.Context())
		if err != nil {
			return err
		}
		now := time.Now()
		if got.drained = m[metricShipped] - taken; got.drained == 0 {
			first = now
		}
		got.took = now.Sub(first)
		if second := outageRate * got.grown / got.clicks; got.drained == 0 || m[metricBehind] > second {
			return fmt.Errorf("%v bytes behind", m[metricBehind])
		}
		return nil
	})
	got.first = first.Sub(ready)
	got.late = stop()
	got.answers, got.refused = load.answers.Load(), load.refused.Load()
	fleet.Await(t, "the origin has all clicks", func() error { return nothingBehind(t.Context(), edge) })
	got.uncounted = math.Abs(edge.Metric(t, metricShipped) - shipped - float64(got.answers))
	return got
}

// clickers counts what a load of clicks was answered.
type clickers struct{ answers, refused atomic.Uint64 }

// clicking has clicks come, until stop is called.
func (s *stage) clicking(t *testing.T, links []fleet.Link) (load *clickers, stop func() (late measure.Sample)) {
	t.Helper()
	const conns, most = 16, 1 << 20
	visits := Visits(2, links, s.Times(512, 8192), floodAgents)
	to := make([]*fleet.Conn, conns)
	for i := range to {
		to[i] = s.Edges[0].Dial(t)
	}
	ctx, cancel := context.WithCancel(t.Context())
	load = &clickers{}
	var late measure.Sample
	ended := make(chan error, 1)
	pace := measure.Pace{Every: time.Second / time.Duration(s.Times(outageRate/10, outageRate)), Jobs: most, Workers: conns}
	go func() {
		var err error
		late, err = pace.Run(ctx, func(worker, job int) error { return load.click(to[worker], visits[job%len(visits)].Request) })
		ended <- err
	}()
	return load, func() measure.Sample {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return late
	}
}

// click sends one request and counts its answer.
func (c *clickers) click(conn *fleet.Conn, visit []byte) error {
	if err := conn.Send(string(visit)); err != nil {
		return err
	}
	r, err := conn.Receive(http.MethodGet)
	switch {
	case err != nil:
		return err
	case r.Status == http.StatusFound:
		c.answers.Add(1)
	default:
		c.refused.Add(1)
	}
	return nil
}
