package stampede

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// long is a bound that no test is meant to reach.
const long = time.Minute

// patient is a Config under which nothing but the tested thing ends a wait.
func patient(client redis.UniversalClient) Config {
	return Config{
		Redis: client, Prefix: "test", Wait: long, LockTTL: long, ResultTTL: long,
		RedisTimeout: long, RedisPause: long, Deadline: 2 * long,
	}
}

func connect(t *testing.T, r *services.RedisServer) redis.UniversalClient {
	t.Helper()
	client, err := Connect(r.URL())
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// source stands in for PostgreSQL: it answers with the position it is told to,
// and can be held up.
type source struct {
	epoch, asof uint64
	state       feed.State
	began       chan link.Key // if set, told of each load
	hold        chan struct{} // if set, a load ends only when it is closed

	mu            sync.Mutex
	loads         map[link.Key]int
	running, peak int // loads at the same time: now, and the most there were
}

func (s *source) load(ctx context.Context, key link.Key) (*feed.Entry, error) {
	s.mu.Lock()
	if s.loads == nil {
		s.loads = make(map[link.Key]int)
	}
	s.loads[key]++
	s.running++
	s.peak = max(s.peak, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if s.began != nil {
		s.began <- key
	}
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.entry(key), nil
}

func (s *source) entry(key link.Key) *feed.Entry {
	e := &feed.Entry{Epoch: s.epoch, AsOf: s.asof, Key: key}
	if s.state != feed.Absent {
		e.Version = s.asof
		e.Body = feed.Body{State: s.state, LinkID: 7, Status: 302, Target: "https://example.com/" + key.Code}
	}
	return e
}

func (s *source) count(key link.Key) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads[key]
}

// newLoader makes a Loader that is closed at the test's end.
func newLoader(t *testing.T, cfg Config, load func(context.Context, link.Key) (*feed.Entry, error)) *Loader {
	t.Helper()
	l := New(cfg, load)
	t.Cleanup(l.Close)
	return l
}

// mustLoad fails the test unless the load gives exactly want.
func mustLoad(t *testing.T, l *Loader, w want, expect *feed.Entry) {
	t.Helper()
	got, err := l.Load(t.Context(), w.key, w.epoch, w.minSeq)
	if err != nil {
		t.Errorf("Load(%s, %d, %d): %v", w.key, w.epoch, w.minSeq, err)
		return
	}
	if *got != *expect {
		t.Errorf("Load(%s, %d, %d) = %+v, want %+v", w.key, w.epoch, w.minSeq, *got, *expect)
	}
}

// eventually polls until the condition holds and fails the test when it does
// not in time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("did not happen in time: %s", what)
		}
	}
}

// waiting is how many Loads the Loader has on its hands.
func waiting(l *Loader) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.flights) + int(l.Stats().Joined)
}
