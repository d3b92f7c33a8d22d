package peers

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
)

// redisMemory is what the designs that keep links in Redis may use, in bytes.
const redisMemory = 4 << 30

// startRedisOnly builds and starts the shortener whose only storage is Redis. Its Redis belongs to it.
func startRedisOnly(tb testing.TB, s *site) *Peer {
	tb.Helper()
	store := startRedis(tb, s)
	options, err := redis.ParseURL(store.URL())
	if err != nil {
		tb.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close() //nolint:errcheck // all is written
	const batch = 1000
	for from := 0; from < len(s.links); from += batch {
		_, err := client.Pipelined(tb.Context(), func(p redis.Pipeliner) error {
			for _, l := range s.links[from:min(from+batch, len(s.links))] {
				p.HSet(tb.Context(), "link:"+l.Code, "target", l.Target)
			}
			return nil
		})
		if err != nil {
			tb.Fatalf("%s: %v", s.name, err)
		}
	}
	pid := s.run(tb, []string{"GOMAXPROCS=1"}, build(tb, s, "waypost/bench/peers/redisonly"), "-listen", s.addr, "-redis", store.URL())
	return &Peer{Name: s.name, Addr: s.addr, PIDs: []int{pid, store.PID()}, Store: store.URL()}
}

// startRedis starts a Redis on the site's core until the test ends.
func startRedis(tb testing.TB, s *site) *services.RedisServer {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startLimit)
	defer cancel()
	store, err := services.StartRedis(ctx, services.RedisConfig{Dir: tb.TempDir(), MaxMemory: redisMemory})
	if err != nil {
		tb.Fatalf("%s: %v", s.name, err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), stopLimit)
		defer cancel()
		if err := store.Stop(ctx); err != nil {
			tb.Errorf("%s: %v", s.name, err)
		}
	})
	s.pin(tb, store.PID())
	return store
}
