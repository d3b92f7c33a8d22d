package limit

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen at some time.
const patience = 30 * time.Second

// visitor is an IPv4 client.
var visitor = ClientOf(netip.MustParseAddr("203.0.113.7"))

// hand is a clock that moves when it is told to.
type hand struct{ now atomic.Int64 }

func (h *hand) clock() time.Duration    { return time.Duration(h.now.Load()) }
func (h *hand) advance(d time.Duration) { h.now.Add(int64(d)) }

// mustNew returns a limiter of cfg, whose table is small unless it says so.
func mustNew(tb testing.TB, cfg Config) *Limiter {
	tb.Helper()
	if cfg.Table == 0 {
		cfg.Table = 1024
	}
	l, err := New(cfg)
	if err != nil {
		tb.Fatalf("New(%+v): %v", cfg, err)
	}
	return l
}

// connect returns a client of the Redis at addr.
func connect(tb testing.TB, addr string) *redis.Client {
	tb.Helper()
	return closedAtEnd(tb, &redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1})
}

// untouchable returns a client that fails the test if it is used.
func untouchable(tb testing.TB) *redis.Client {
	tb.Helper()
	return closedAtEnd(tb, &redis.Options{
		ContextTimeoutEnabled: true,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			tb.Error("Redis was called, want no call")
			return nil, net.ErrClosed
		},
	})
}

func closedAtEnd(tb testing.TB, opt *redis.Options) *redis.Client {
	tb.Helper()
	client := redis.NewClient(opt)
	tb.Cleanup(func() {
		if err := client.Close(); err != nil {
			tb.Errorf("close Redis client: %v", err)
		}
	})
	return client
}

// running runs l until the test's end.
func running(tb testing.TB, l *Limiter) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("Run: got %v, want nil", err)
		}
	})
}

// eventually waits for what, and fails the test where it does not come.
func eventually(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	late := time.After(patience)
	for !is() {
		select {
		case <-ticker.C:
		case <-late:
			tb.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

// admitted asks n times and returns how often the answer was yes.
func admitted(tb testing.TB, l *Limiter, c Client, n int) int {
	tb.Helper()
	yes := 0
	for range n {
		if l.Allow(tb.Context(), c).OK {
			yes++
		}
	}
	return yes
}

// deadlineless returns a client that does not heed the deadlines of contexts.
func deadlineless(tb testing.TB) *redis.Client {
	tb.Helper()
	return closedAtEnd(tb, &redis.Options{})
}
