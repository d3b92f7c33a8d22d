package e2e

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
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
