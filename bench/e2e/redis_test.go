package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/bench/fleet"
	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// redisOf is a client of a region's Redis, past any proxy.
func redisOf(t *testing.T, server *services.RedisServer) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// keysLike lists the keys that match a pattern.
func keysLike(ctx context.Context, client *redis.Client, pattern string) (keys []string, err error) {
	for found := client.Scan(ctx, 0, pattern, 1000).Iterator(); ; {
		if !found.Next(ctx) {
			return keys, found.Err()
		}
		keys = append(keys, found.Val())
	}
}

// valueKey is where a region's Redis holds a link's entry.
func valueKey(l fleet.Link) string {
	key := link.Key{Domain: l.Domain, Code: l.Code}
	return fmt.Sprintf("wp:{s%d}:v:%s", feed.Shard(key.Hash()), key.Append(nil))
}

// awaitStored waits until a region's Redis holds all these links: an edge writes there after it has answered.
func awaitStored(t *testing.T, client *redis.Client, links []fleet.Link) {
	t.Helper()
	for _, l := range links {
		fleet.Await(t, "Redis holds "+l.Code, func() error {
			n, err := client.Exists(t.Context(), valueKey(l)).Result()
			if err == nil && n == 0 {
				err = errors.New("it does not")
			}
			return err
		})
	}
}
