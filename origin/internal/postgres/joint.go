package postgres

import (
	"context"
	"errors"
	"sync"
	"time"
)

// maxJoint bounds the reads of a joint that run at the same time: two, so that
// one which hangs on a lost connection does not hold up everybody.
const maxJoint = 2

// errNoRead is what a panic, which is its caller's, leaves to the others.
var errNoRead = errors.New("read ended without a result")

// joint reads for many callers at once. Each takes what it gets as read after it
// asked, so a read may serve exactly those who were waiting when it started, and
// none that came later. Nobody waits for company: whoever finds no read waiting
// for its turn runs one. It is safe for concurrent use.
type joint[K comparable, V any] struct {
	load  func(ctx context.Context, keys []K) (map[K]V, error)
	limit time.Duration // of one read, its wait for a turn included
	turns chan struct{} // one for each read that runs

	mu   sync.Mutex
	next *shared[K, V] // takes whoever comes until it starts; nil: the next comer makes one
}

// shared is one read.
type shared[K comparable, V any] struct {
	keys map[K]bool
	done chan struct{}
	got  map[K]V
	err  error // both are written before done is closed
}

func newJoint[K comparable, V any](limit time.Duration, load func(context.Context, []K) (map[K]V, error)) *joint[K, V] {
	return &joint[K, V]{load: load, limit: limit, turns: make(chan struct{}, maxJoint)}
}

// read returns what was read of a key after it was called; ok is false where
// there was nothing. A read runs to its end even if the ctx of the caller who
// runs it ends before, because others wait for it.
func (j *joint[K, V]) read(ctx context.Context, key K) (v V, ok bool, err error) {
	j.mu.Lock()
	mine, first := j.next, false
	if mine == nil {
		mine, first = &shared[K, V]{keys: make(map[K]bool), done: make(chan struct{}), err: errNoRead}, true
		j.next = mine
	}
	mine.keys[key] = true
	j.mu.Unlock()
	if first {
		j.run(context.WithoutCancel(ctx), mine)
	} else {
		select {
		case <-mine.done:
		case <-ctx.Done():
			return v, false, ctx.Err()
		}
	}
	v, ok = mine.got[key]
	return v, ok, mine.err
}

// run waits for a turn, closes the read to newcomers, and only then reads.
func (j *joint[K, V]) run(ctx context.Context, mine *shared[K, V]) {
	ctx, cancel := context.WithTimeout(ctx, j.limit)
	defer cancel()
	defer close(mine.done)
	select {
	case j.turns <- struct{}{}:
		defer func() { <-j.turns }()
	case <-ctx.Done():
	}
	j.mu.Lock()
	j.next = nil
	j.mu.Unlock()
	if err := ctx.Err(); err != nil {
		mine.err = err
		return
	}
	keys := make([]K, 0, len(mine.keys))
	for key := range mine.keys {
		keys = append(keys, key)
	}
	mine.got, mine.err = j.load(ctx, keys)
}
