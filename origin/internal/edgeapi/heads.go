package edgeapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"waypost/shared/feed"
)

// maxReads bounds the reads of heads that run at the same time: two, so that
// one that hangs on a lost connection does not hold up every edge's lease.
const maxReads = 2

// headsReader answers many probes with few reads. An edge takes the heads as
// read after its probe arrived, so a read may serve exactly the probes that
// were waiting when it started, and none that came later. Safe for concurrent
// use; reads run in the goroutines of their callers.
type headsReader struct {
	load  func(context.Context) (*feed.Heads, error)
	limit time.Duration // of one read, waiting for its turn included
	turns chan struct{} // one for each read that runs

	mu   sync.Mutex
	next *headsRead // takes whoever comes until it starts; nil: the next comer makes one
}

// headsRead is one read and the probes it serves.
type headsRead struct {
	done  chan struct{}
	heads *feed.Heads
	err   error // both are written before done is closed
}

var errNoHeads = errors.New("read of heads ended without a result")

func newHeadsReader(load func(context.Context) (*feed.Heads, error), limit time.Duration) *headsReader {
	return &headsReader{load: load, limit: limit, turns: make(chan struct{}, maxReads)}
}

// read returns heads that were read after it was called. The caller who finds
// no read to join runs one, to its end even if its own ctx ends before, because
// others wait for it.
func (h *headsReader) read(ctx context.Context) (*feed.Heads, error) {
	h.mu.Lock()
	r := h.next
	if r == nil {
		r = &headsRead{done: make(chan struct{})}
		h.next = r
		h.mu.Unlock()
		h.run(context.WithoutCancel(ctx), r)
	} else {
		h.mu.Unlock()
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("heads: %w", ctx.Err())
	}
	if r.err != nil {
		return nil, fmt.Errorf("heads: %w", r.err)
	}
	return r.heads, nil
}

// run waits for a turn, closes r to newcomers, and only then reads.
func (h *headsReader) run(ctx context.Context, r *headsRead) {
	ctx, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	defer close(r.done)
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
	case <-ctx.Done():
	}
	h.mu.Lock()
	h.next = nil
	h.mu.Unlock()
	if r.err = ctx.Err(); r.err != nil {
		return
	}
	r.err = errNoHeads // what a panic, which is its caller's, leaves to the others
	r.heads, r.err = h.load(ctx)
}
