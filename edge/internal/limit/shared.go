package limit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// shared is the buckets of the region, in its Redis. Every call is one round
// trip, or two where Redis does not know the script yet, and ends within
// timeout. Safe for concurrent use.
type shared struct {
	client   redis.UniversalClient
	script   *redis.Script
	prefix   string
	interval int64 // µs a token
	depth    int64 // µs of a full bucket
	timeout  time.Duration
}

// debit is what a settling round does for one client: in what is known of its
// slot, and out, once answered, the credit of its shared bucket in µs.
type debit struct {
	slot     *slot
	id       clientID
	key      string
	pending  int64 // of the slot when the round read it
	tokens   int64 // of these, those that Redis is told of
	credit   int64
	answered bool
}

// key is where the bucket of a client is: its tag in braces keeps one client in
// one slot of a Redis Cluster, and different clients apart.
func (s *shared) key(id clientID) string {
	var buf [64]byte
	b := append(buf[:0], s.prefix...)
	b = append(b, ":{"...)
	b = id.appendTo(b)
	return string(append(b, "}:l"...))
}

// take asks for one token. The credit is what is left, in µs.
func (s *shared) take(ctx context.Context, id clientID) (taken bool, credit int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	taken, credit, err = answer(s.script.Run(ctx, s.client, []string{s.key(id)}, s.interval, s.depth, 1, "0"))
	if err != nil {
		return false, 0, fmt.Errorf("limit take: %w", err)
	}
	return taken, credit, nil
}

// charge tells Redis of tokens that have been spent, in one pipeline, and fills
// in the credits. After an error those that were answered are marked; the
// others may have been charged or not.
func (s *shared) charge(ctx context.Context, debits []debit) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	unknown, err := s.send(ctx, debits, s.script.EvalSha)
	if unknown {
		_, err = s.send(ctx, debits, s.script.Eval)
	}
	if err != nil {
		return fmt.Errorf("limit settle of %d clients: %w", len(debits), err)
	}
	return nil
}

// evaluate is Script.EvalSha or Script.Eval.
type evaluate func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

// send sends the debits that are not answered yet. It returns the last error,
// and whether one of them was that a Redis does not know the script.
func (s *shared) send(ctx context.Context, debits []debit, eval evaluate) (unknown bool, err error) {
	pipe := s.client.Pipeline()
	cmds := make([]*redis.Cmd, len(debits))
	for i := range debits {
		if d := &debits[i]; !d.answered {
			cmds[i] = eval(ctx, pipe, []string{d.key}, s.interval, s.depth, d.tokens, "1")
		}
	}
	// Exec returns the first of the commands' errors; below they are looked at one by one.
	_, _ = pipe.Exec(ctx)
	for i, cmd := range cmds {
		if cmd == nil {
			continue
		}
		_, credit, cmdErr := answer(cmd)
		if cmdErr != nil {
			unknown = unknown || redis.HasErrorPrefix(cmdErr, "NOSCRIPT")
			err = cmdErr
			continue
		}
		debits[i].credit, debits[i].answered = credit, true
	}
	return unknown, err
}

// probe spends from a bucket that is nobody's, because a Redis may answer and
// refuse to write (full, a replica, unable to save).
func (s *shared) probe(ctx context.Context) error {
	one := [1]debit{{key: s.probeKey(), tokens: 1}}
	return s.charge(ctx, one[:])
}

func (s *shared) probeKey() string { return s.prefix + ":{probe}:l" }

// warm opens connections, all at once, and lets Redis know the script: on a busy
// machine the first visitors, who would have to wait for a dial, a greeting and
// the script, would find their time up and be admitted without having been
// counted. It sends single commands, as take does: the client has other
// connections for pipelines. What fails, Run's first probe finds.
func (s *shared) warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var looks sync.WaitGroup
	for range warmConns {
		looks.Go(func() { s.script.Run(ctx, s.client, []string{s.probeKey()}, s.interval, s.depth, 0, "0") })
	}
	looks.Wait()
}

// answer reads what bucketScript returns.
func answer(cmd *redis.Cmd) (taken bool, credit int64, err error) {
	values, err := cmd.Int64Slice()
	if err != nil {
		return false, 0, err
	}
	if len(values) != 2 {
		return false, 0, fmt.Errorf("%d values, want 2", len(values))
	}
	return values[0] == 1, values[1], nil
}
