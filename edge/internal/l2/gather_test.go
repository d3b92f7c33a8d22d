package l2

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
	"waypost/shared/feed"
)

// gate is a hook of a client that lets no lookup through until it is opened.
type gate struct {
	open  chan struct{}
	began atomic.Int32 // pipelines of lookups
	fault error        // that those have which it lets through; set before it is opened
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() != "get" { // a new connection's own
			return next(ctx, cmds)
		}
		g.began.Add(1)
		select {
		case <-g.open:
			if g.fault == nil {
				return next(ctx, cmds)
			}
			for _, cmd := range cmds {
				cmd.SetErr(g.fault)
			}
			return g.fault
		case <-ctx.Done():
			for _, cmd := range cmds {
				cmd.SetErr(ctx.Err())
			}
			return ctx.Err()
		}
	}
}

// gated is a cache without Run, whose lookups wait at the gate.
func gated(t *testing.T) (*Cache, *gate) {
	t.Helper()
	client := connect(t, services.Redis(t).Addr())
	c := New(config(client, newOrigin()))
	for i := range 100 {
		e := &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: keyOf(i), Body: live()}
		if err := c.run(t.Context(), []*call{c.put(e)}); err != nil {
			t.Fatal(err)
		}
	}
	g := &gate{open: make(chan struct{})}
	client.AddHook(g)
	return c, g
}

// waiting is the number of questions that wait for a pipeline.
func (g *gathering) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		return 0
	}
	return len(g.next.asked) / 2
}

func TestConcurrentLookupsGoTogether(t *testing.T) {
	t.Parallel()
	c, g := gated(t)
	const lookups = 50
	var all sync.WaitGroup
	ask := func(from, to int) {
		for i := from; i < to; i++ {
			all.Go(func() {
				key := keyOf(i)
				r, err := c.Lookup(t.Context(), key, key.Hash())
				if err != nil || r.Entry == nil || r.Entry.Key != key {
					t.Errorf("Lookup(%s): got %+v, %v, want its entry", key, r.Entry, err)
				}
			})
		}
	}
	ask(0, maxOnTheWay)
	eventually(t, "the first are on their way", func() bool { return g.began.Load() == maxOnTheWay })
	ask(maxOnTheWay, lookups)
	eventually(t, "all others wait", func() bool { return c.gatherings[0].waiting() == lookups-maxOnTheWay })
	if got := g.began.Load(); got != maxOnTheWay {
		t.Errorf("pipelines at once: got %d, want %d", got, maxOnTheWay)
	}
	close(g.open)
	all.Wait()
	if got := g.began.Load(); got != maxOnTheWay+1 {
		t.Errorf("pipelines of %d lookups: got %d, want %d", lookups, got, maxOnTheWay+1)
	}
	if got := c.gatherings[0].onTheWay; got != 0 {
		t.Errorf("on their way afterwards: got %d, want none", got)
	}
}

func TestOneCallerThatLeavesEndsNobodyElsesLookup(t *testing.T) {
	t.Parallel()
	c, g := gated(t)
	leaving, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	ask := func(ctx context.Context, i int) {
		all.Go(func() {
			key := keyOf(i)
			if r, err := c.Lookup(ctx, key, key.Hash()); err != nil || r.Entry == nil {
				t.Errorf("Lookup(%s): got %+v, %v, want its entry", key, r.Entry, err)
			}
		})
	}
	for i := range maxOnTheWay {
		ask(t.Context(), i)
	}
	eventually(t, "the first are on their way", func() bool { return g.began.Load() == maxOnTheWay })
	ask(leaving, maxOnTheWay) // it will send the others' questions, too
	eventually(t, "one waits", func() bool { return c.gatherings[0].waiting() == 1 })
	ask(t.Context(), maxOnTheWay+1)
	eventually(t, "two wait", func() bool { return c.gatherings[0].waiting() == 2 })
	leave()
	close(g.open)
	all.Wait()
}

func TestAPipelineThatFailsIsOneFailureForAllItsLookups(t *testing.T) {
	t.Parallel()
	c, g := gated(t)
	g.fault = net.ErrClosed
	const together = 4 * breakAfter
	var all sync.WaitGroup
	ask := func(i int) {
		all.Go(func() {
			key := keyOf(i)
			if _, err := c.Lookup(t.Context(), key, key.Hash()); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Lookup(%s): got error %v, want %v", key, err, net.ErrClosed)
			}
		})
	}
	for i := range maxOnTheWay {
		ask(i)
	}
	eventually(t, "the first are on their way", func() bool { return g.began.Load() == maxOnTheWay })
	for i := range together {
		ask(maxOnTheWay + i)
	}
	eventually(t, "all others wait", func() bool { return c.gatherings[0].waiting() == together })
	close(g.open)
	all.Wait()
	if got, want := c.breaker.failures.Load(), int32(maxOnTheWay+1); got != want || c.breaker.open.Load() {
		t.Errorf("got %d failures, open %v, want %d and not", got, c.breaker.open.Load(), want)
	}
}

func TestLookupsThatWaitEndWithThoseBeforeThem(t *testing.T) {
	t.Parallel()
	c, g := gated(t)
	for i := range c.gatherings {
		c.gatherings[i].timeout = minBreak
	}
	var all sync.WaitGroup
	for i := range 4 * maxOnTheWay {
		all.Go(func() {
			key := keyOf(i)
			if _, err := c.Lookup(t.Context(), key, key.Hash()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Lookup(%s): got error %v, want context.DeadlineExceeded", key, err)
			}
		})
	}
	all.Wait() // none waits for the gate, which stays closed
	if c.gatherings[0].onTheWay != 0 || c.gatherings[0].waiting() != 0 {
		t.Errorf("afterwards %d are on their way and %d wait, want none", c.gatherings[0].onTheWay, c.gatherings[0].waiting())
	}
	close(g.open)
}
