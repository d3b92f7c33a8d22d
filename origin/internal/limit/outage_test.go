package limit

import (
	"context"
	"testing"
	"time"

	"waypost/deploy/services"
)

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
			func(_ *testing.T, _ *services.RedisServer, p *services.Proxy) { p.Delay(5 * time.Second) },
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
	for _, o := range outages() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			r := services.Redis(t)
			p := services.NewProxy(t, r.Addr())
			l := New(Config{Redis: connect(t, p.Addr()), Prefix: "wp", Timeout: time.Second, Pause: 50 * time.Millisecond})
			other := New(Config{})
			if got := take(t, l, "before", slow, 7); got != 7 || l.Stats().Alone != 0 {
				t.Fatalf("before the outage: got %d, %d without Redis", got, l.Stats().Alone)
			}
			o.begin(t, r, p)
			for range 3 {
				if got, want := take(t, l, "during", slow, 7), take(t, other, "during", slow, 7); got != want {
					t.Errorf("during the outage: got %d, want %d, as an origin alone gives", got, want)
				}
			}
			if got := l.Stats().Alone; got < 3 {
				t.Errorf("during the outage: %d decisions without Redis, want 3", got)
			}
			o.end(t, r, p)
			eventually(t, "Redis is asked again", func() bool {
				before := l.Stats().Alone
				take(t, l, "after", slow, 1)
				return l.Stats().Alone == before
			})
		})
	}
}

func TestRedisThatFailedIsNotAskedForAPause(t *testing.T) {
	t.Parallel()
	p := services.NewProxy(t, services.Redis(t).Addr())
	l := New(Config{Redis: connect(t, p.Addr()), Prefix: "wp", Timeout: time.Second, Pause: time.Hour})
	p.Cut()
	take(t, l, "key", slow, 1)
	p.Heal()
	before := p.Connections()
	for range 50 {
		take(t, l, "key", slow, 1)
	}
	if got := p.Connections() - before; got != 0 {
		t.Errorf("%d connections within the pause, want 0", got)
	}
	if got := l.Stats(); got.Alone != 51 || got.Given != 10 {
		t.Errorf("Stats = %+v, want 51 decisions alone, 10 tokens", got)
	}
}

func TestACallerThatLeavesSaysNothingAboutRedis(t *testing.T) {
	t.Parallel()
	l := New(Config{Redis: connect(t, services.Redis(t).Addr()), Prefix: "wp", Timeout: patience, Pause: time.Hour})
	gone, leave := context.WithCancel(t.Context())
	leave()
	l.Take(gone, "key", slow, 1)
	take(t, l, "key", slow, 1)
	if got := l.Stats().Alone; got != 1 {
		t.Errorf("%d decisions without Redis, want that of the caller who left", got)
	}
}
