package chaos

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisEmpty takes values and filters away from under the edges, and brings old ones back. No edge may notice.
func redisEmpty(w *world) {
	between := func() { w.pass(w.long(250*time.Millisecond, 5*time.Second)) }
	clients := w.redisClients()
	each := func(do func(ctx context.Context, client *redis.Client) error) {
		for region, client := range clients {
			if err := do(w.t.Context(), client); err != nil {
				w.t.Fatalf("redis of %s: %v", region, err)
			}
		}
		between()
	}
	old := map[*redis.Client]snapshot{}
	each(func(ctx context.Context, client *redis.Client) (err error) {
		old[client], err = take(ctx, client)
		return err
	})
	for range w.times(1, 5) {
		for _, server := range w.Redis {
			server.Kill()
		}
		between()
		for _, server := range w.Redis {
			if err := server.Restart(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}
		between()
		each(func(ctx context.Context, client *redis.Client) error { return old[client].restore(ctx, client) })
		each(func(ctx context.Context, client *redis.Client) error { return client.FlushAll(ctx).Err() })
		each(func(ctx context.Context, client *redis.Client) error { return remove(ctx, client, "wp:*:f") })
	}
}

// redisClients are of every region's Redis, past any proxy.
func (w *world) redisClients() map[string]*redis.Client {
	clients := make(map[string]*redis.Client)
	for region, server := range w.Redis {
		client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
		w.t.Cleanup(func() { _ = client.Close() })
		clients[region] = client
	}
	return clients
}

// snapshot is what a Redis held: the keys' values as DUMP gives them, and for how long they were to stay.
type snapshot map[string]held

type held struct {
	value string
	ttl   time.Duration
}

func take(ctx context.Context, client *redis.Client) (snapshot, error) {
	all := snapshot{}
	for found := client.Scan(ctx, 0, "*", 1000).Iterator(); ; {
		if !found.Next(ctx) {
			return all, found.Err()
		}
		value, err := client.Dump(ctx, found.Val()).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ttl, err := client.PTTL(ctx, found.Val()).Result()
		if err != nil {
			return nil, err
		}
		all[found.Val()] = held{value, max(ttl, 0)}
	}
}

func (s snapshot) restore(ctx context.Context, client *redis.Client) error {
	for key, h := range s {
		if err := client.RestoreReplace(ctx, key, h.ttl, h.value).Err(); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the keys that match a pattern. That there were none is an error.
func remove(ctx context.Context, client *redis.Client, pattern string) error {
	n := 0
	for found := client.Scan(ctx, 0, pattern, 1000).Iterator(); ; n++ {
		if !found.Next(ctx) {
			if err := found.Err(); err != nil || n > 0 {
				return err
			}
			return errors.New("no key is like " + pattern)
		}
		if err := client.Del(ctx, found.Val()).Err(); err != nil {
			return err
		}
	}
}
