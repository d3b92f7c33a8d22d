package stampede

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// leaveLua stores a result unless a newer one is there, and frees the lock if it is
// still this holder's: both at once, so that whoever takes the lock after a holder
// finds what that one left. Both keys carry the shard as hash tag and live in one
// slot of a cluster.
//
// It compares the heads of two entries: format byte, epoch and position,
// big-endian at fixed offsets (feed.Entry.Append). Lua's own < on strings follows
// the server's locale, hence bytes. An entry of another format says nothing.
const leaveLua = `
local function reaches(have, want)
  if have:byte(1) ~= want:byte(1) then return false end
  for i = 2, 17 do
    local h, w = have:byte(i), want:byte(i)
    if h ~= w then return w == nil or h ~= nil and h > w end
  end
  return true
end
if ARGV[2] ~= '' then
  local result = redis.call('GET', KEYS[2])
  if not result or reaches(ARGV[2], result) then
    redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
  end
end
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`

// outcome says how the wait for the lock ended.
type outcome uint8

const (
	busy      outcome = iota // not yet: another one holds the lock
	shared                   // with the result of another origin
	held                     // with the lock
	waitedOut                // with neither
	failed                   // Redis did not answer
	skipped                  // Redis was not asked, it failed a moment ago
)

// turn is an outcome and, where it is shared, the result.
type turn struct {
	outcome outcome
	entry   *feed.Entry
	locked  bool // the lock is this caller's, to be left: where it is held, and by chance where it is shared
}

// lock is the stampede lock: one key a link in Redis, with the holder's result
// beside it.
type lock struct {
	cfg     Config
	free    *redis.Script
	breaker breaker
}

func newLock(cfg Config) *lock {
	return &lock{
		cfg:     cfg,
		free:    redis.NewScript(leaveLua),
		breaker: breaker{pause: cfg.RedisPause, onState: cfg.OnRedis},
	}
}

// await polls until there is a result that will do or the lock is this
// caller's, for at most Config.Wait. The lock of a holder that died falls to
// one of those who poll.
func (l *lock) await(ctx context.Context, w want, token string) turn {
	began := time.Now()
	for {
		if !l.breaker.allow() {
			return turn{outcome: skipped}
		}
		t, err := l.try(ctx, w, token)
		l.breaker.report(ctx, err)
		if err != nil {
			return turn{outcome: failed} // with reads of its own: nobody waits for a Redis that fails
		}
		if t.outcome != busy {
			return t
		}
		pause := l.cfg.Poll/2 + rand.N(l.cfg.Poll) //nolint:gosec // spreads polls, keeps no secret
		if time.Since(began)+pause > l.cfg.Wait {
			return turn{outcome: waitedOut}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return turn{outcome: waitedOut}
		}
	}
}

// try looks once: it takes the lock if it is free and then, in the same round
// trip, reads the result. In this order a lock that was taken shows what its last
// holder left. Two plain commands take Redis a fraction of what a script does, and
// what a script would spare, a lock taken beside a result that will do, is rare.
func (l *lock) try(ctx context.Context, w want, token string) (turn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.RedisTimeout)
	defer cancel()
	keys := l.keys(w.key)
	take := redis.NewStatusCmd(ctx, "SET", keys[0], token, "NX", "PX", l.cfg.LockTTL.Milliseconds())
	result := redis.NewStringCmd(ctx, "GET", keys[1])
	pipe := l.cfg.Redis.Pipeline()
	_ = pipe.BatchProcess(ctx, take, result) // only queued
	_, _ = pipe.Exec(ctx)                    // each command has its own error
	for _, cmd := range []redis.Cmder{take, result} {
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return turn{}, fmt.Errorf("take the lock of %s: %w", w.key, err)
		}
	}
	t := turn{outcome: busy}
	if take.Err() == nil {
		t = turn{outcome: held, locked: true}
	}
	if result.Err() == nil {
		// A result that is damaged, or somebody else's, is none.
		if e, err := feed.ParseEntry(result.Val()); err == nil && w.reached(e) {
			t.outcome, t.entry = shared, e
		}
	}
	return t, nil
}

// ping is try and leave, without a link and whatever the breaker says.
func (l *lock) ping(ctx context.Context) error {
	token := crand.Text()
	t, err := l.try(ctx, want{}, token)
	l.breaker.report(ctx, err)
	if t.locked {
		l.leave(ctx, link.Key{}, token, nil)
	}
	return err
}

// leave stores what was loaded, if anything was, and frees the lock if token
// still holds it. A failure costs other origins their wait and nothing else,
// so it is only reported to the breaker.
func (l *lock) leave(ctx context.Context, key link.Key, token string, loaded *feed.Entry) {
	if !l.breaker.allow() {
		return
	}
	var result []byte
	if loaded != nil {
		result = loaded.Append(nil)
	}
	// The load may have used up its time; its lock is freed all the same.
	ctx = context.WithoutCancel(ctx)
	timed, cancel := context.WithTimeout(ctx, l.cfg.RedisTimeout)
	defer cancel()
	err := l.free.Run(timed, l.cfg.Redis, l.keys(key), token, result, l.cfg.ResultTTL.Milliseconds()).Err()
	l.breaker.report(ctx, err)
}

// keys names the lock and the result of a link.
func (l *lock) keys(key link.Key) []string {
	tag := l.cfg.Prefix + ":{s" + strconv.Itoa(feed.Shard(key.Hash())) + "}:"
	name := string(key.Append(nil))
	return []string{tag + "lock:" + name, tag + "res:" + name}
}
