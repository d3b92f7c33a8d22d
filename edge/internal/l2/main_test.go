package l2

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"waypost/deploy/services"
	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) {
	logging.Disable() // go-redis writes a line for every dial that fails
	goleak.VerifyTestMain(services.Main(m))
}

// connect makes a client as a service would, closed at the test's end.
func connect(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, DialerRetries: 1, DialTimeout: time.Second,
	})
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return client
}

// small is a shape for some hundred keys a shard.
func small() bloom.Shape { return bloom.ShapeOf(20_000, 0.01, feed.Shards) }

// edge is one edge's positions and its view of the region's Redis.
type edge struct {
	*Cache
	table *feed.Table
}

// config is for tests: patient, so that a busy machine is no fault, and quick
// to look again.
func config(client redis.UniversalClient, o source) Config {
	return Config{
		Redis: client, Prefix: "t", Timeout: 5 * time.Second, Check: 20 * time.Millisecond,
		Shape: small(), Table: feed.NewTable(1024, 1), Source: o, Logger: slog.New(slog.DiscardHandler),
	}
}

// newEdge makes an edge that stands where the origin does and gets its
// changes. Nothing runs yet.
func newEdge(o *origin, cfg Config) *edge {
	e := &edge{Cache: New(cfg), table: cfg.Table}
	o.join(e)
	return e
}

// run runs the edge until the test's end, or until the returned function was
// called.
func (e *edge) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: got %v, want nil", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// within bounds one step of a test.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx := within(t)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("did not happen in time: %s", what)
		}
	}
}

func keyOf(i int) link.Key { return link.Key{Code: "code" + strconv.Itoa(i)} }

// look up a key that must not end in an error.
func (e *edge) find(t *testing.T, key link.Key) Result {
	t.Helper()
	r, err := e.Lookup(within(t), key, key.Hash())
	if err != nil {
		t.Fatalf("Lookup(%s): %v", key, err)
	}
	return r
}

// refuses reports whether the edge would answer 404 for the key by the filter.
func (e *edge) refuses(t *testing.T, key link.Key) bool {
	t.Helper()
	view, ok := e.table.View(key.Hash())
	if !ok {
		t.Fatalf("no view of %s", key)
	}
	r := e.find(t, key)
	return r.Absent != nil && view.Fresh(r.Absent)
}

// inStepWith reports whether all filters are there and stand at the origin's
// heads.
func (e *edge) inStepWith(t *testing.T, o *origin) bool {
	t.Helper()
	epoch, heads := o.heads()
	found, err := e.look(within(t), allShards()...)
	if err != nil {
		return false
	}
	for shard, f := range found {
		if !f.whole || f.Epoch != epoch || f.Position != heads[shard] {
			return false
		}
	}
	return true
}
