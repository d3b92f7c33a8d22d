package fleet

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// perPipeline is how many commands go to Redis at once.
const perPipeline = 1000

// startRedis starts a Redis of so many bytes; it ends with the test.
func startRedis(tb testing.TB, memory int64) *services.RedisServer {
	tb.Helper()
	if memory == 0 {
		return services.Redis(tb)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	r, err := services.StartRedis(ctx, services.RedisConfig{Dir: tb.TempDir(), MaxMemory: memory})
	if err != nil {
		tb.Fatalf("Redis: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), patience)
		defer cancel()
		if err := r.Stop(ctx); err != nil {
			tb.Errorf("stop Redis: %v", err)
		}
	})
	return r
}

// L2Key is the name of a link's value in the Redis of a region.
func L2Key(l Link) string {
	key := link.Key{Domain: l.Domain, Code: l.Code}
	return edgePrefix + ":{s" + strconv.Itoa(feed.Shard(key.Hash())) + "}:v:" + string(key.Append(nil))
}

// L2 is a region's Redis, for a test that looks into it or has it as it wants. Safe for concurrent use.
type L2 struct{ *redis.Client }

// L2 connects to a region's Redis until the test's end.
func (f *Fleet) L2(tb testing.TB, region string) L2 {
	tb.Helper()
	options, err := redis.ParseURL(f.Redis[region].URL())
	if err != nil {
		tb.Fatal(err)
	}
	client := redis.NewClient(options)
	tb.Cleanup(func() { _ = client.Close() })
	return L2{client}
}

// Hold stores the values of the links at these indexes, nil for all, as they are in L2 once each was asked for within
// the day that L2 keeps them.
func (r L2) Hold(ctx context.Context, s *Seeded, at []int) error {
	const kept = 24 * time.Hour
	n, index := len(at), func(i int) int { return at[i] }
	if at == nil {
		n, index = len(s.Links), func(i int) int { return i }
	}
	return r.each(ctx, n, func(p redis.Pipeliner, i int) {
		p.Set(ctx, L2Key(s.Links[index(i)]), s.Entry(index(i)).Append(nil), kept)
	})
}

// Forget removes the values of links.
func (r L2) Forget(ctx context.Context, links []Link) error {
	return r.each(ctx, len(links), func(p redis.Pipeliner, i int) { p.Del(ctx, L2Key(links[i])) })
}

// each sends n commands, many at once.
func (r L2) each(ctx context.Context, n int, command func(p redis.Pipeliner, i int)) error {
	for from := 0; from < n; from += perPipeline {
		_, err := r.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < min(from+perPipeline, n); i++ {
				command(p, i)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("l2: %w", err)
		}
	}
	return nil
}

// Used is how many bytes of memory Redis has in use.
func (r L2) Used(ctx context.Context) (float64, error) {
	info, err := r.Info(ctx, "memory").Result()
	if err != nil {
		return 0, fmt.Errorf("l2 memory: %w", err)
	}
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, "used_memory:"); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("l2 memory: %.100q", info)
}

// FilterBytes is what the Bloom filters of all shards take.
func (r L2) FilterBytes(ctx context.Context) (sum float64, err error) {
	for shard := range feed.Shards {
		n, err := r.StrLen(ctx, edgePrefix+":{s"+strconv.Itoa(shard)+"}:f").Result()
		if err != nil {
			return 0, fmt.Errorf("l2 filter of shard %d: %w", shard, err)
		}
		sum += float64(n)
	}
	return sum, nil
}
