package redirects

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/bench/measure"
)

const edgesMethod = "Edges of one region join one origin, which shares a core with its PostgreSQL and NATS and with nobody else; edges, their Redis and the writer have the other core. With each number of edges %d turns of %s in which nothing happens but probes, " +
	"and as many in which %d titles of links are changed a second at the API by an open loop with ack=edges, in turns. CPU is that of origin, PostgreSQL and NATS together. A change costs what there is beyond the turn without changes before it, by the changes that were made: " +
	"checks, transaction, publication, acknowledgements, answer. An edge more costs what these cost beyond one, by the edges beyond one."

// joined is a fleet whose edges join by and by.
type joined struct {
	*measuring
	*fleet.Fleet
	links   []fleet.Link
	every   time.Duration // from one change to the next
	lasting time.Duration // of a turn
	short   atomic.Int64  // of these, not acknowledged by all edges
}

// charged is what origin, PostgreSQL and NATS have used.
type charged struct{ origin, postgres, nats time.Duration }

func (c charged) minus(o charged) charged {
	return charged{c.origin - o.origin, c.postgres - o.postgres, c.nats - o.nats}
}

func (c charged) all() time.Duration { return c.origin + c.postgres + c.nats }

// joinedTurn is what a turn without changes used, and one with so many.
type joinedTurn struct {
	idle, busy charged
	lasting    time.Duration
	changes    int
}

// idleMillis is the CPU of a second without changes, in milliseconds.
func (j joinedTurn) idleMillis(of func(charged) time.Duration) float64 {
	return measure.Millis(of(j.idle)) / j.lasting.Seconds()
}

// perChange is the CPU of a change, in microseconds.
func (j joinedTurn) perChange(of func(charged) time.Duration) float64 {
	return micros(of(j.busy)-of(j.idle)) / float64(j.changes)
}

// edgesAtOrigin measures what edges cost behind them, from one up to eight.
func (m *measuring) edgesAtOrigin(t *testing.T) {
	numbers := []int{1, 2, 4, 8}
	if !m.Full() {
		numbers = []int{1, 2}
	}
	j := m.joined(t, numbers[len(numbers)-1])
	rounds := m.Times(1, 3)
	method := fmt.Sprintf(edgesMethod, rounds, j.lasting, time.Second/j.every)
	parts := []struct {
		name string
		of   func(charged) time.Duration
	}{
		{"", charged.all},
		{" of the origin", func(c charged) time.Duration { return c.origin }},
		{" of PostgreSQL", func(c charged) time.Duration { return c.postgres }},
		{" of NATS", func(c charged) time.Duration { return c.nats }},
	}
	var fewest []joinedTurn
	running := 0
	for _, n := range numbers {
		j.launch(t, running, n)
		running = n
		turns := j.turns(t, rounds)
		if fewest == nil {
			fewest = turns
		}
		var values []measure.Value
		add := func(name, unit string, of func(joinedTurn) float64) {
			values = append(values, measure.Number(name, 0, unit).Of(each(turns, of)))
			if more := n - numbers[0]; more > 0 && unit != "" {
				values = append(values, measure.Number(name+", an edge more", (measure.Median(each(turns, of))-measure.Median(each(fewest, of)))/float64(more), unit))
			}
		}
		for _, p := range parts {
			add("CPU of a change"+p.name, "µs", func(j joinedTurn) float64 { return j.perChange(p.of) })
		}
		for _, p := range parts {
			add("CPU at rest"+p.name, "ms/s", func(j joinedTurn) float64 { return j.idleMillis(p.of) })
		}
		values = append(values, measure.Number("not acknowledged by all", float64(j.short.Swap(0)), ""))
		m.Found(t, measure.Figure{Name: fmt.Sprintf("the origin with %s", edgesOf(n)), Unit: "changes", N: changesOf(turns), Method: method, Values: values})
	}
}

// changesOf counts those of turns.
func changesOf(turns []joinedTurn) (n int) {
	for _, t := range turns {
		n += t.changes
	}
	return n
}

// joined starts what stands behind edges.
func (m *measuring) joined(t *testing.T, edges int) *joined {
	t.Helper()
	spec := fleet.Spec{Binaries: binaries, EdgeEnv: map[string]string{"GOMAXPROCS": "1"}, KeepState: m.Full(), DurablePostgres: m.Full(), PrivatePostgres: !m.Full()}
	for range edges {
		spec.Edges = append(spec.Edges, "eu")
	}
	if m.Full() {
		fleet.PinHere(t, serversCore)
	}
	f := fleet.Prepare(t, spec)
	f.LaunchOrigins(t)
	if m.Full() {
		fleet.PinHere(t, loadCore)
	}
	j := &joined{measuring: m, Fleet: f, every: time.Second / changesPerSecond, lasting: m.Lasting(100*time.Millisecond, 2*time.Second)}
	j.links = f.API(t).MustBulk(t, m.Times(20, 1000), func(i int) fleet.Fields {
		return fleet.Fields{"target": fmt.Sprintf("https://example.com/somewhere/to/go/%07d?with=a&query=b", i)}
	})
	return j
}

// launch has edges join, from one on up to another.
func (j *joined) launch(t *testing.T, from, to int) {
	t.Helper()
	for _, e := range j.Edges[from:to] {
		e.Launch(t)
	}
	for _, e := range j.Edges[from:to] {
		e.AwaitReady(t)
	}
	j.Settle(t)
}

// turns are so many after one that is left out.
func (j *joined) turns(t *testing.T, rounds int) (turns []joinedTurn) {
	t.Helper()
	api := j.API(t)
	for round := range rounds + 1 {
		jobs := int(j.lasting / j.every)
		before := j.charged(t)
		fleet.Pass(t, j.lasting)
		between := j.charged(t)
		j.pace(t, jobs, j.every, func(job int) error { return j.change(t.Context(), api, job) })
		turn := joinedTurn{idle: between.minus(before), busy: j.charged(t).minus(between), lasting: j.lasting, changes: jobs}
		if round > 0 {
			turns = append(turns, turn)
		}
	}
	return turns
}

// pace does jobs one every so long, and returns when that long has passed after the last one's time.
func (j *joined) pace(t *testing.T, jobs int, every time.Duration, do func(job int) error) {
	t.Helper()
	_, err := measure.Pace{Every: every, Jobs: jobs + 1, Workers: 64}.Run(t.Context(), func(_, job int) error {
		if job == jobs {
			return nil
		}
		return do(job)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// change changes a link's title, other than the last time, and waits for the edges.
func (j *joined) change(ctx context.Context, api *fleet.API, job int) error {
	l := j.links[job%len(j.links)]
	answer, err := api.Do(ctx, http.MethodPatch, "/links/"+l.Code, fleet.Fields{"title": fmt.Sprintf("title %d", time.Now().UnixNano())})
	if err != nil {
		return err
	}
	receipt, err := answer.Receipt()
	if err != nil {
		return fmt.Errorf("title of %s: status %d: %s: %w", l.Code, answer.Status, answer.Body, err)
	}
	if receipt.Acked < receipt.Edges {
		j.short.Add(1)
	}
	return nil
}

// charged is what has been used so far.
func (j *joined) charged(t *testing.T) (c charged) {
	t.Helper()
	for pid, used := range map[int]*time.Duration{j.Origins[0].PID(t): &c.origin, j.Postgres.PID(): &c.postgres, j.NATS.PID(): &c.nats} {
		var err error
		if *used, err = measure.CPU(pid); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// edgesOf is a number of them, in words.
func edgesOf(n int) string {
	if n == 1 {
		return "one edge"
	}
	return fmt.Sprintf("%d edges", n)
}
