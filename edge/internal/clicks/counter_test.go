package clicks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"waypost/edge/internal/clicks/spool"
	"waypost/shared/click"
)

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(30 * time.Second); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited too long: %s", what)
		}
	}
}

func TestClicksArriveWithAllTheirParts(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	for n := range 2_000 {
		e.count(want, visit(uint64(n%3), n*40))
	}
	e.settle(t)
	o.same(t, want)
	if got := e.Stats().Shipped; got != 2_000 {
		t.Errorf("got %d shipped, want 2000", got)
	}
}

func TestRunShipsAndEndsWithNothingLeftBehind(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	e := startEdge(t, t.TempDir(), o, newClock(), func(_ *spool.Config, cfg *Config) { cfg.now = time.Now })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	e.count(want, visit(1, 1))
	until(t, "the first click at the origin", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.applied["link 1"] == 1
	})
	e.count(want, visit(1, 2)) // just before the end: the last attempt takes it along
	e.Orphan(1_790_000_000_000_000)
	want[fmt.Sprint("orphans ", click.HourOf(1_790_000_000_000_000))]++
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	o.same(t, want)
}

func TestAVoidedClickDoesNotCount(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	e.Cancel(e.Count(visit(1, 1)), visit(1, 1))
	e.count(want, visit(1, 2))
	e.Cancel(e.Count(visit(2, 3)), visit(2, 3))
	e.settle(t)
	o.same(t, want)
	if v := o.visitors["link 1 day 20717"]; v == nil || v.Count() != 1 {
		t.Errorf("got visitors %v, want the one who was sent on", o.visitors)
	}
}

func TestAClickWaitsForItsVoid(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	ticket := e.Count(visit(1, 1))
	e.shipper.note()
	e.clock.at = e.clock.at.Add(grace - time.Millisecond)
	e.shipper.round(t.Context())
	if len(o.bodies) != 0 {
		t.Errorf("got %d stretches before the click was a grace old", len(o.bodies))
	}
	e.Cancel(ticket, visit(1, 1))
	e.settle(t)
	o.same(t, want)
}

func TestAVoidThatComesTooLateIsCounted(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	ticket := e.count(want, visit(1, 1))
	e.settle(t)
	e.Cancel(ticket, visit(1, 1))
	e.settle(t)
	o.same(t, want)
	if got := e.Stats().LateVoids; got != 1 {
		t.Errorf("got %d late voids, want 1", got)
	}
}

func TestAVoidThatTheSpoolRefusesStillCounts(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	ticket := e.Count(visit(1, 1))
	e.count(want, visit(1, 2))
	e.voids.put(ticket)
	e.settle(t)
	o.same(t, want)
}

func TestAVoidThatTheSpoolRefusedIsWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	o.fault = func([]byte) (int, error) { return 0, errLost }
	dir, clock := t.TempDir(), newClock()
	e := startEdge(t, dir, o, clock, nil)
	e.voids.put(e.Count(visit(1, 1)))
	e.count(want, visit(1, 2))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Run(ended); err != nil {
		t.Fatal(err)
	}
	e.stop()
	o.fault = nil
	startEdge(t, dir, o, clock, nil).settle(t)
	o.same(t, want)
}

func TestAVoidInMemoryThatComesTooLateIsCounted(t *testing.T) {
	t.Parallel()
	var v voids
	v.put(3)
	v.put(4)
	v.put(9)
	if !v.has(3) || !v.has(9) {
		t.Error("got no void, want those that were put")
	}
	if late := v.forget(5); late != 1 {
		t.Errorf("got %d late, want the one whose click was not left out", late)
	}
	if got := v.all(); !slices.Equal(got, []uint64{9}) {
		t.Errorf("got %v left, want 9", got)
	}
}

func TestVoidsInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	var v voids
	for at := range uint64(maxVoids) {
		if !v.put(at) {
			t.Fatalf("void %d: refused", at)
		}
	}
	if v.put(maxVoids) || v.has(maxVoids) || !v.has(7) {
		t.Error("got one more than there may be, or one less")
	}
	v.forget(8)
	if v.has(7) || !v.has(8) || !v.put(maxVoids) {
		t.Error("got another void than those below 8 forgotten")
	}
	if v.forget(maxVoids + 1); v.some.Load() || len(v.at) > 0 {
		t.Errorf("got %d left", len(v.at))
	}
}

func TestOrphansCountByTheHour(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	e := startEdge(t, t.TempDir(), o, newClock(), nil)
	for n := range 100 {
		e.Orphan(click.HourStart(497_222 + int64(n%2)))
	}
	e.settle(t)
	o.same(t, sums{"orphans 497222": 50, "orphans 497223": 50})
}

func TestWithoutASpoolMemoryCounts(t *testing.T) {
	t.Parallel()
	o, want := newOrigin(t), make(sums)
	c := New(Config{Origin: o, Region: "eu", Clock: func() int64 { return 0 }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	for n := range 100 {
		c.Count(visit(3, n))
		want.click(visit(3, n), "eu")
	}
	c.Cancel(c.Count(visit(3, 7)), visit(3, 7))
	c.Orphan(0)
	want["orphans 0"] = 1
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	o.same(t, want)
	if s := c.Stats(); s.InMemory != 0 || s.Shipped != 100 {
		t.Errorf("got %+v", s)
	}
}

func TestClientsThatCountAtTheSameTimeCountExactly(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	e := startEdge(t, t.TempDir(), o, newClock(), func(_ *spool.Config, cfg *Config) { cfg.now = time.Now })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for n := range 250 {
				e.Count(visit(1, client*250+n))
				e.Orphan(0)
				e.Cancel(e.Count(visit(1, 0)), visit(1, 0))
				e.Stats()
			}
		})
	}
	clients.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if clicks, orphans := o.applied["link 1"], o.applied["orphans 0"]; clicks != 2_000 || orphans != 2_000 {
		t.Errorf("got %d clicks and %d orphans, want 2000 of each", clicks, orphans)
	}
}
