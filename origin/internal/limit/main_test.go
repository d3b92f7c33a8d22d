package limit

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"waypost/origin/internal/links"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen at some time, and for a
// Redis that must not be given up.
const patience = 30 * time.Second

// slow is an allowance that does not refill while a test runs.
var slow = links.Allowance{Rate: links.MinCreateRate, Burst: 10}

// hand is a clock that moves when it is told to.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func newHand() *hand { return &hand{at: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (h *hand) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hand) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// connect returns a client of the Redis at addr.
func connect(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1})
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close Redis client: %v", err)
		}
	})
	return client
}

// origin is a Limiter on the Redis at addr that is never given up.
func origin(t *testing.T, addr string) *Limiter {
	t.Helper()
	return New(Config{Redis: connect(t, addr), Prefix: "wp", Timeout: patience})
}

// take asks once and returns how many tokens there were.
func take(t *testing.T, l *Limiter, key string, a links.Allowance, asked int) int {
	t.Helper()
	return l.Take(t.Context(), key, a, asked).Tokens
}

// eventually waits for what, and fails the test where it does not come.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
