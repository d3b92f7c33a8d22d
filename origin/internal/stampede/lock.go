package stampede

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Each script touches lock and result at once, so that nobody can look between
// the holder's result and the end of its lock, and then load once more. Both
// keys carry the shard as hash tag and live in one slot of a cluster.
const (
	// reachesLua compares the heads of two entries. Lua's own < on strings
	// follows the server's locale, hence bytes. An entry of another format says
	// nothing.
	reachesLua = `
local function reaches(have, want)
  if have:byte(1) ~= want:byte(1) then return false end
  for i = 2, 17 do
    local h, w = have:byte(i), want:byte(i)
    if h ~= w then return w == nil or h ~= nil and h > w end
  end
  return true
end
`
	// takeLua returns a result that will do, else 1 with the lock taken, else 0.
	takeLua = reachesLua + `
local result = redis.call('GET', KEYS[2])
if result and reaches(result, ARGV[1]) then return result end
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3]) then return 1 end
return 0
`
	// leaveLua stores a result unless a newer one is there, and frees the lock if
	// it is still this holder's.
	leaveLua = reachesLua + `
if ARGV[2] ~= '' then
  local result = redis.call('GET', KEYS[2])
  if not result or reaches(ARGV[2], result) then
    redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
  end
end
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`
)

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
}

// lock is the stampede lock: one key a link in Redis, with the holder's result
// beside it.
type lock struct {
	cfg     Config
	take    *redis.Script
	free    *redis.Script
	breaker breaker
}

func newLock(cfg Config) *lock {
	return &lock{
		cfg:     cfg,
		take:    redis.NewScript(takeLua),
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

// try looks once.
func (l *lock) try(ctx context.Context, w want, token string) (turn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.RedisTimeout)
	defer cancel()
	answer, err := l.take.Run(ctx, l.cfg.Redis, l.keys(w.key),
		w.position(), token, l.cfg.LockTTL.Milliseconds()).Result()
	if err != nil {
		return turn{}, fmt.Errorf("take the lock of %s: %w", w.key, err)
	}
	switch v := answer.(type) {
	case int64:
		if v == 1 {
			return turn{outcome: held}, nil
		}
		return turn{outcome: busy}, nil
	case string:
		e, err := feed.ParseEntry(v)
		if err != nil || !w.reached(e) {
			// Damaged, or somebody else's. It hides the lock, so waiting is no use.
			return turn{outcome: waitedOut}, nil
		}
		return turn{outcome: shared, entry: e}, nil
	default:
		return turn{}, fmt.Errorf("take the lock of %s: unexpected %T", w.key, answer)
	}
}

// ping is try and leave, without a link and whatever the breaker says.
func (l *lock) ping(ctx context.Context) error {
	token := crand.Text()
	_, err := l.try(ctx, want{}, token)
	l.breaker.report(ctx, err)
	if err == nil {
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
