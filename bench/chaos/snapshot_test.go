package chaos

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// snapshot is what a Redis held: the keys' values as DUMP gives them, and for how long they were to stay.
type snapshot map[string]held

type held struct {
	value string
	ttl   time.Duration
}

// take copies the keys that match a pattern.
func take(ctx context.Context, client *redis.Client, pattern string) (snapshot, error) {
	values, ttls := map[string]*redis.StringCmd{}, map[string]*redis.DurationCmd{}
	pipe := client.Pipeline()
	found := client.Scan(ctx, 0, pattern, 1000).Iterator()
	for found.Next(ctx) {
		values[found.Val()], ttls[found.Val()] = pipe.Dump(ctx, found.Val()), pipe.PTTL(ctx, found.Val())
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	all := snapshot{}
	for key, value := range values {
		if value.Err() == nil { // else it has gone meanwhile
			all[key] = held{value.Val(), max(ttls[key].Val(), 0)}
		}
	}
	return all, nil
}

// restore writes all of it, whatever is there.
func (s snapshot) restore(ctx context.Context, client *redis.Client) error {
	pipe := client.Pipeline()
	for key, h := range s {
		pipe.RestoreReplace(ctx, key, h.ttl, h.value)
	}
	_, err := pipe.Exec(ctx)
	return err
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
