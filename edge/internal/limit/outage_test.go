package limit

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
)

// visits counts the commands that a client was asked to send on behalf of
// visitors. Run sends pipelines only, which do not count.
type visits struct{ atomic.Int64 }

func (v *visits) DialHook(next redis.DialHook) redis.DialHook { return next }

func (v *visits) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		v.Add(1)
		return next(ctx, cmd)
	}
}

func (v *visits) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// outage is a way in which a Redis is not there, and the way back.
type outage struct {
	name       string
	begin, end func(t *testing.T, r *services.RedisServer, p *services.Proxy)
}

func outages() []outage {
	return []outage{
		{
			"killed",
			func(_ *testing.T, r *services.RedisServer, _ *services.Proxy) { r.Kill() },
			func(t *testing.T, r *services.RedisServer, _ *services.Proxy) {
				t.Helper()
				if err := r.Restart(t.Context()); err != nil {
					t.Fatalf("restart Redis: %v", err)
				}
			},
		},
		{
			"paused",
			func(_ *testing.T, r *services.RedisServer, _ *services.Proxy) { r.Pause() },
			func(_ *testing.T, r *services.RedisServer, _ *services.Proxy) { r.Resume() },
		},
		{
			"slow",
			func(_ *testing.T, _ *services.RedisServer, p *services.Proxy) { p.Delay(time.Second) },
			func(_ *testing.T, _ *services.RedisServer, p *services.Proxy) { p.Delay(0) },
		},
		{
			"cut off",
			func(_ *testing.T, _ *services.RedisServer, p *services.Proxy) { p.Cut() },
			func(_ *testing.T, _ *services.RedisServer, p *services.Proxy) { p.Heal() },
		},
	}
}

func TestOutageIsSurvived(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Async, Exact} {
		for _, o := range outages() {
			t.Run(string(mode)+" "+o.name+" at start", func(t *testing.T) {
				t.Parallel()
				surviveOutage(t, mode, o, true)
			})
			t.Run(string(mode)+" "+o.name+" later", func(t *testing.T) {
				t.Parallel()
				surviveOutage(t, mode, o, false)
			})
		}
	}
}

// surviveOutage shows that every request is answered while Redis is away, by
// the edge's own bucket, and by the shared one once Redis is back.
func surviveOutage(t *testing.T, mode Mode, o outage, atStart bool) {
	t.Helper()
	const burst = 20
	r := services.Redis(t)
	p := services.NewProxy(t, r.Addr())
	direct, client := connect(t, r.Addr()), connect(t, p.Addr())
	var asked visits
	client.AddHook(&asked)
	states := make(chan error, 16)
	l := mustNew(t, Config{
		Mode: mode, Rate: 0.001, Burst: burst, Redis: client, Prefix: "wp", Timeout: 200 * time.Millisecond,
		OnRedis: func(err error) { states <- err },
	})

	if atStart {
		o.begin(t, r, p)
		running(t, l)
	} else {
		running(t, l)
		if err := nextState(t, states); err != nil {
			t.Fatalf("first state: got %v, want nil", err)
		}
		o.begin(t, r, p)
	}
	if got := admitted(t, l, visitor, 2*burst); got != burst {
		t.Errorf("during the outage: admitted %d, want the burst of %d", got, burst)
	}
	if err := nextState(t, states); err == nil {
		t.Error("state during the outage: got nil, want an error")
	}
	before := asked.Load()
	if got := admitted(t, l, network(1), 2*burst); got != burst {
		t.Errorf("another client during the outage: admitted %d, want the burst of %d", got, burst)
	}
	if got := asked.Load() - before; got != 0 {
		t.Errorf("calls of Redis for visitors, known to be away: got %d, want 0", got)
	}

	o.end(t, r, p)
	if err := nextState(t, states); err != nil {
		t.Errorf("state after the outage: got %v, want nil", err)
	}
	if got := admitted(t, l, network(2), 1); got != 1 {
		t.Errorf("after the outage: admitted %d, want 1", got)
	}
	eventually(t, "the shared bucket of a client admitted after the outage", func() bool {
		n, err := direct.Exists(t.Context(), l.shared.key(network(2).id())).Result()
		return err == nil && n == 1
	})
}

// nextState waits for the next call of OnRedis.
func nextState(t *testing.T, states <-chan error) error {
	t.Helper()
	select {
	case err := <-states:
		return err
	case <-time.After(patience):
		t.Fatalf("waited %v in vain for OnRedis", patience)
		return nil
	}
}

func TestOutageIsForgivenBeyondLocalBurst(t *testing.T) {
	t.Parallel()
	const burst, local = 100, 10
	r := services.Redis(t)
	p := services.NewProxy(t, r.Addr())
	l := mustNew(t, Config{Rate: 0.01, Burst: burst, LocalBurst: local, Redis: connect(t, p.Addr()), Prefix: "wp"})
	s := newSettler(l)
	p.Cut()
	eventually(t, "Redis is given up", func() bool { s.step(t.Context()); return !l.Stats().RedisUp })
	if got := admitted(t, l, visitor, 2*burst); got != burst {
		t.Fatalf("during the outage: admitted %d, want the burst of %d", got, burst)
	}
	p.Heal()
	eventually(t, "Redis is back", func() bool { s.step(t.Context()); return l.Stats().RedisUp })
	if got := admitted(t, l, visitor, burst); got != local {
		t.Errorf("after the outage: admitted %d, want the local burst of %d", got, local)
	}
	read := []debit{{key: l.shared.key(visitor.id())}}
	if err := l.shared.charge(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	if got := burst - read[0].credit/l.interval; got != local {
		t.Errorf("charged for the outage: got %d, want %d", got, local)
	}
}

func TestSingleFailureIsNoOutage(t *testing.T) {
	t.Parallel()
	var h health
	failure := errors.New("lost")
	for range 10 {
		h.failed(failure)
		h.failed(failure)
		h.answered()
	}
	if h.open.Load() || h.state() != nil {
		t.Errorf("two failures between answers: open %v, state %v, want closed", h.open.Load(), h.state())
	}
	for range failuresToOpen {
		h.failed(failure)
	}
	h.answered()
	if !h.open.Load() || !errors.Is(h.state(), failure) {
		t.Errorf("three failures and a late answer: open %v, state %v, want open by %v", h.open.Load(), h.state(), failure)
	}
	h.close()
	h.failed(failure)
	if h.open.Load() || h.state() != nil {
		t.Errorf("closed, and one failure: open %v, state %v, want closed", h.open.Load(), h.state())
	}
}

// A visitor who hangs up says nothing about Redis.
func TestCancelledRequestIsNoFailure(t *testing.T) {
	t.Parallel()
	l := mustNew(t, Config{Mode: Exact, Rate: 1, Burst: 10, Redis: connect(t, services.Redis(t).Addr())})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * failuresToOpen {
		l.Allow(ctx, visitor)
	}
	if !l.Stats().RedisUp {
		t.Error("RedisUp after cancelled requests: got false, want true")
	}
}
