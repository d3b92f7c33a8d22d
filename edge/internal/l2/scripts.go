package l2

import (
	"context"
	_ "embed" // the scripts
	"errors"

	"github.com/redis/go-redis/v9"
)

//go:embed store.lua
var storeSource string

//go:embed advance.lua
var advanceSource string

//go:embed replace.lua
var replaceSource string

//go:embed unlock.lua
var unlockSource string

//go:embed hold.lua
var holdSource string

// scripts decide inside Redis, where nothing comes between reading and writing.
type scripts struct {
	store, advance, replace, unlock, hold *redis.Script
}

func newScripts() scripts {
	return scripts{
		store:   redis.NewScript(storeSource),
		advance: redis.NewScript(advanceSource),
		replace: redis.NewScript(replaceSource),
		unlock:  redis.NewScript(unlockSource),
		hold:    redis.NewScript(holdSource),
	}
}

// maxCalls bounds one pipeline.
const maxCalls = 256

// call is one script on one key. cmd holds its reply after run.
type call struct {
	script *redis.Script
	key    string
	args   []any
	cmd    *redis.Cmd
}

// run pipelines the calls in order, by hash first and once more by source
// where Redis does not know the script (a restart, SCRIPT FLUSH). It returns
// the first fault of the connection; a reply's error stays with its call.
func (c *Cache) run(ctx context.Context, calls []*call) error {
	for len(calls) > 0 {
		n := min(len(calls), maxCalls)
		if err := c.runSome(ctx, calls[:n]); err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

func (c *Cache) runSome(ctx context.Context, calls []*call) error {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	if err := c.exec(ctx, calls, (*redis.Script).EvalSha); err != nil {
		return err
	}
	var again []*call
	for _, one := range calls {
		if err := one.cmd.Err(); errors.Is(err, redis.ErrNoScript) || redis.HasErrorPrefix(err, "NOSCRIPT") {
			again = append(again, one)
		}
	}
	if len(again) == 0 {
		return nil
	}
	return c.exec(ctx, again, (*redis.Script).Eval)
}

type evaluate func(s *redis.Script, ctx context.Context, r redis.Scripter, keys []string, args ...any) *redis.Cmd

func (c *Cache) exec(ctx context.Context, calls []*call, eval evaluate) error {
	pipe := c.cfg.Redis.Pipeline()
	for _, one := range calls {
		one.cmd = eval(one.script, ctx, pipe, []string{one.key}, one.args...)
	}
	cmds, err := pipe.Exec(ctx)
	if err == nil || !isReply(err) {
		return err
	}
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !isReply(err) {
			return err
		}
	}
	return nil
}

// isReply tells an error that Redis answered with, nil among them, from one of
// the connection.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// serverFault is the error of a command that Redis would or could not carry
// out. A missing key, or one of another type, is none: that is what is stored.
func serverFault(err error) error {
	if err == nil || errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil
	}
	return err
}
