package stampede

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// states records the calls of OnRedis.
type states struct {
	mu   sync.Mutex
	errs []error
}

func (s *states) add(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

func (s *states) last() (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) == 0 {
		return 0, nil
	}
	return len(s.errs), s.errs[len(s.errs)-1]
}

func TestADeadRedisCostsOneTimeoutAPause(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(*services.RedisServer){
		"paused": (*services.RedisServer).Pause,
		"absent": (*services.RedisServer).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := services.Redis(t)
			hurt(r)
			t.Cleanup(r.Resume)
			src := &source{epoch: 1, asof: 3, state: feed.Enabled}
			var seen states
			cfg := patient(connect(t, r))
			cfg.RedisTimeout, cfg.OnRedis = 20*time.Millisecond, seen.add
			l := newLoader(t, cfg, src.load)
			const loads = 50
			for i := range loads {
				key := link.Key{Code: strconv.Itoa(i)}
				mustLoad(t, l, want{key: key, epoch: 1, minSeq: 3}, src.entry(key))
			}
			expect := Stats{Loaded: loads, RedisFailed: 1, RedisSkipped: loads - 1}
			if got := l.Stats(); got != expect {
				t.Errorf("Stats = %+v, want %+v", got, expect)
			}
			if n, err := seen.last(); n != 1 || err == nil {
				t.Errorf("OnRedis: %d calls, last with %v; want one with an error", n, err)
			}
		})
	}
}

func TestManyLoadsAtOnceAreAnsweredWithoutRedis(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	r.Pause()
	t.Cleanup(r.Resume)
	src := &source{epoch: 1, asof: 3, state: feed.Enabled, hold: make(chan struct{})}
	key := link.Key{Code: "k"}
	cfg := patient(connect(t, r))
	cfg.RedisTimeout = 20 * time.Millisecond
	l := newLoader(t, cfg, src.load)
	var all sync.WaitGroup
	for range 250 {
		all.Go(func() { mustLoad(t, l, want{key: key, epoch: 1, minSeq: 3}, src.entry(key)) })
	}
	eventually(t, "all wait", func() bool { return waiting(l) == 250 })
	close(src.hold)
	all.Wait()
	if got := src.count(key); got != 1 {
		t.Errorf("reads of PostgreSQL = %d, want 1", got)
	}
}

func TestRedisDyingDuringALoadDoesNotFailIt(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	src := &source{epoch: 1, asof: 3, state: feed.Enabled, began: make(chan link.Key), hold: make(chan struct{})}
	key := link.Key{Code: "k"}
	cfg := patient(connect(t, r))
	cfg.RedisTimeout = 20 * time.Millisecond
	holder, loser := newLoader(t, patient(connect(t, r)), src.load), newLoader(t, cfg, src.load)
	var all sync.WaitGroup
	all.Go(func() { mustLoad(t, holder, want{key: key, epoch: 1}, src.entry(key)) })
	<-src.began
	all.Go(func() { mustLoad(t, loser, want{key: key, epoch: 1}, src.entry(key)) })
	eventually(t, "the loser waits", func() bool { return waiting(loser) == 1 })
	r.Kill()
	<-src.began // the loser stopped waiting for a lock that is gone
	close(src.hold)
	all.Wait()
	if got := loser.Stats(); got.RedisFailed != 1 || got.Loaded != 1 {
		t.Errorf("Stats = %+v, want 1 RedisFailed and 1 Loaded", got)
	}
}

func TestRedisIsUsedAgainAfterARestart(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	src := &source{epoch: 1, asof: 3, state: feed.Enabled}
	var seen states
	cfg := patient(connect(t, r))
	cfg.RedisPause, cfg.RedisTimeout, cfg.OnRedis = 5*time.Millisecond, long, seen.add
	l, other := newLoader(t, cfg, src.load), newLoader(t, patient(connect(t, r)), src.load)

	before, during := link.Key{Code: "before"}, link.Key{Code: "during"}
	mustLoad(t, l, want{key: before, epoch: 1}, src.entry(before))
	r.Kill()
	mustLoad(t, l, want{key: during, epoch: 1}, src.entry(during))
	if n, err := seen.last(); n != 1 || err == nil {
		t.Fatalf("OnRedis: %d calls, last with %v; want one with an error", n, err)
	}
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := 0
	eventually(t, "Redis is used again", func() bool {
		key := link.Key{Code: strconv.Itoa(n)}
		n++
		mustLoad(t, l, want{key: key, epoch: 1}, src.entry(key))
		calls, err := seen.last()
		return calls == 2 && err == nil
	})
	// The new process knows no script.
	after := link.Key{Code: "after"}
	mustLoad(t, l, want{key: after, epoch: 1}, src.entry(after))
	mustLoad(t, other, want{key: after, epoch: 1}, src.entry(after))
	if got := other.Stats().Shared; got != 1 {
		t.Errorf("Shared = %d, want 1: the result was not left in the restarted Redis", got)
	}
}

func TestConnectNeedsAURLAndKeepsThePasswordToItself(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"redis://:s3cret@host:port", "http://:s3cret@host", "redis://:s3cret@host/x", ":s3cret", "",
		"redis://:s3cret@host?addr=a:1&nope=1",
	} {
		_, err := Connect(bad)
		if err == nil {
			t.Errorf("Connect(%q) took it, want an error", bad)
			continue
		}
		if got := err.Error(); strings.Contains(got, "s3cret") {
			t.Errorf("Connect(%q) = %v, which tells the password", bad, err)
		}
	}
	for _, good := range []string{"redis://127.0.0.1:1/0", "rediss://:p@127.0.0.1:1", "redis://127.0.0.1:1?addr=127.0.0.1:2"} {
		c, err := Connect(good)
		if err != nil {
			t.Errorf("Connect(%q): %v", good, err)
			continue
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close after Connect(%q): %v", good, err)
		}
	}
}

func TestAPingTellsWhetherFillsUseRedis(t *testing.T) {
	t.Parallel()
	r := services.Redis(t)
	var seen states
	cfg := patient(connect(t, r))
	cfg.RedisPause, cfg.RedisTimeout, cfg.OnRedis = time.Hour, 200*time.Millisecond, seen.add
	src := &source{epoch: 1, asof: 3, state: feed.Enabled}
	l := newLoader(t, cfg, src.load)
	for range 2 { // the first one's lock is free again
		if err := l.Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	}
	r.Pause()
	t.Cleanup(r.Resume)
	if err := l.Ping(t.Context()); err == nil {
		t.Error("Ping of a Redis that is slower than a fill waits: no error")
	}
	if n, err := seen.last(); n != 1 || err == nil {
		t.Errorf("OnRedis: %d calls, last with %v; want one with an error", n, err)
	}
	r.Resume()
	eventually(t, "a ping finds Redis back", func() bool { return l.Ping(t.Context()) == nil })
	if n, err := seen.last(); n != 2 || err != nil {
		t.Errorf("OnRedis: %d calls, last with %v; want a second one without", n, err)
	}
	key := link.Key{Code: "k"}
	mustLoad(t, l, want{key: key, epoch: 1}, src.entry(key))
	if got := l.Stats(); got.RedisSkipped != 0 {
		t.Errorf("Stats = %+v, want the pause to be over", got)
	}
	if err := newLoader(t, Config{}, src.load).Ping(t.Context()); err != nil {
		t.Errorf("Ping without Redis: %v", err)
	}
}
