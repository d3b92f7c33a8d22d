package clicks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

const (
	visibleEvery = 137 * time.Millisecond // no part of the edge's rounds, so that clicks come at any time within them
	lookEvery    = 10 * time.Millisecond
	lookLimit    = 30 * time.Second
)

func (s *stage) clicksShow(t *testing.T) {
	const lookers = 16 // more than clicks are ever waited for at once
	links := s.links(t, lookers)
	edge := s.Edges[0]
	times := make([]time.Duration, s.Times(5, 100))
	clicked := make([]uint64, lookers)
	late, err := measure.Pace{Every: visibleEvery, Jobs: len(times), Workers: lookers}.Run(t.Context(), func(looker, job int) (err error) {
		clicked[looker]++
		times[job], err = s.shows(t.Context(), edge, links[looker], clicked[looker])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sample := measure.NewSample(times)
	s.Found(t, measure.Figure{
		Name: "from a click's answer to its showing in /stats", Unit: "clicks", N: sample.N(),
		Values: []measure.Value{
			measure.Number("p50", sample.Millis(0.5), "ms"), measure.Number("p99", sample.Millis(0.99), "ms"),
			measure.Most("max", sample.Millis(1), 2000, "ms"), measure.Number("load late p99", late.Millis(0.99), "ms"),
		},
		Method: "A click every 137 ms, of one of 16 links; from having its answer on, `GET /links/{code}/stats` is asked again 10 ms after each answer. The time ends with the first answer " +
			"that has the click, and so is up to a question and 10 ms too long.",
	})
}

// shows clicks on a link, for the n-th time, and says how long it took until statistics showed it.
func (s *stage) shows(ctx context.Context, edge *fleet.Edge, l fleet.Link, n uint64) (time.Duration, error) {
	r, err := edge.Ask(ctx, fleet.Request{Path: l.Path()})
	if err == nil && r.Status != http.StatusFound {
		err = fmt.Errorf("status %d, want a redirect", r.Status)
	}
	if err != nil {
		return 0, err
	}
	clicked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("click %d of %s does not show: %w", n, l.Code, ctx.Err())
		case <-tick.C:
		}
		got, err := s.counted(ctx, l)
		switch {
		case err != nil:
			return 0, err
		case got > n:
			return 0, fmt.Errorf("%s has %d clicks, want %d", l.Code, got, n)
		case got == n:
			return time.Since(clicked), nil
		}
		tick.Reset(lookEvery)
	}
}

// counted is how many clicks statistics show of a link.
func (s *stage) counted(ctx context.Context, l fleet.Link) (uint64, error) {
	answer, err := s.api.Do(ctx, http.MethodGet, "/links/"+l.Code+"/stats", nil)
	if err != nil {
		return 0, err
	}
	if answer.Status != http.StatusOK {
		return 0, fmt.Errorf("stats of %s: status %d: %s", l.Code, answer.Status, answer.Body)
	}
	var stats struct {
		Clicks struct {
			Total uint64 `json:"total"`
		} `json:"clicks"`
	}
	err = json.Unmarshal(answer.Body, &stats)
	return stats.Clicks.Total, err
}
