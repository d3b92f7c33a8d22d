package chaos

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisEmpty takes values and filters away from under the edges, and brings old ones back. No edge may notice.
func redisEmpty(w *world) {
	between := func() { w.pass(w.long(250*time.Millisecond, 3*time.Second)) }
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
		old[client], err = take(ctx, client, "*")
		return err
	})
	for range w.times(1, 2) {
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

// redisOld brings Redis back with a snapshot from before the links were changed, older each time. No edge may notice.
func redisOld(w *world) {
	clients := w.redisClients()
	var files []string
	for region, client := range clients {
		file, err := saved(w.t.Context(), client)
		if err != nil {
			w.t.Fatalf("redis of %s: %v", region, err)
		}
		files = append(files, file)
	}
	for range w.times(1, 3) {
		w.pass(w.long(500*time.Millisecond, 8*time.Second))
		for region, server := range w.Redis {
			server.Kill() // which saves nothing, so that the next one loads the old file
			if err := server.Restart(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			n, err := clients[region].DBSize(w.t.Context()).Result()
			if err != nil || n == 0 {
				w.t.Fatalf("redis of %s came back with %d keys, %v", region, n, err)
			}
			w.result.Counts["keys brought back"] += int(n)
		}
		w.pass(w.long(250*time.Millisecond, 3*time.Second))
	}
	for _, file := range files { // or it would come back once more
		if err := os.Remove(file); err != nil {
			w.t.Fatal(err)
		}
	}
}

// saved lets a Redis write its snapshot, and returns the file's path.
func saved(ctx context.Context, client *redis.Client) (string, error) {
	if err := client.Save(ctx).Err(); err != nil {
		return "", err
	}
	dir, err := client.ConfigGet(ctx, "dir").Result()
	if err != nil {
		return "", err
	}
	name, err := client.ConfigGet(ctx, "dbfilename").Result()
	return filepath.Join(dir["dir"], name["dbfilename"]), err
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
