package edges

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

const (
	// maxReads bounds the reads that run at the same time: two, so that one that
	// hangs on a lost connection does not hold up every edge's lease.
	maxReads = 2
	// readLimit bounds one read, waiting for its turn included.
	readLimit = time.Second
)

// Rosters reads the roster for probes and barriers, many of them with few reads.
// Both take it as read after they asked, so a read may serve exactly those who
// were waiting when it started, and none that came later. It is safe for
// concurrent use; reads run in the goroutines of their callers.
type Rosters struct {
	load  func(context.Context) (*links.Roster, error)
	turns chan struct{} // one for each read that runs
	last  atomic.Pointer[roster]

	mu   sync.Mutex
	next *read // takes whoever comes until it starts; nil: the next comer makes one
}

// roster is a Roster and its index. It is immutable.
type roster struct {
	*links.Roster
	present map[feed.Member]bool // the edges whose probes may be answered
}

// read is one read and those it serves.
type read struct {
	done   chan struct{}
	roster *roster
	err    error // both are written before done is closed
}

var errNoRoster = errors.New("read ended without a result")

// NewRosters returns Rosters that load reads: from the primary, in one
// statement, which starts after load was called.
func NewRosters(load func(context.Context) (*links.Roster, error)) *Rosters {
	return &Rosters{load: load, turns: make(chan struct{}, maxReads)}
}

// Members counts the edges of the last roster that have not left; 0 before the
// first one.
func (r *Rosters) Members() int {
	last := r.last.Load()
	if last == nil {
		return 0
	}
	return len(last.present)
}

// read returns a roster that was read after it was called. The caller who finds
// no read to join runs one, to its end even if its own ctx ends before, because
// others wait for it.
func (r *Rosters) read(ctx context.Context) (*roster, error) {
	r.mu.Lock()
	mine := r.next
	if mine == nil {
		mine = &read{done: make(chan struct{})}
		r.next = mine
		r.mu.Unlock()
		r.run(context.WithoutCancel(ctx), mine)
	} else {
		r.mu.Unlock()
	}
	select {
	case <-mine.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("roster: %w", ctx.Err())
	}
	if mine.err != nil {
		return nil, fmt.Errorf("roster: %w", mine.err)
	}
	return mine.roster, nil
}

// run waits for a turn, closes the read to newcomers, and only then reads.
func (r *Rosters) run(ctx context.Context, mine *read) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	defer close(mine.done)
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
	}
	r.mu.Lock()
	r.next = nil
	r.mu.Unlock()
	if mine.err = ctx.Err(); mine.err != nil {
		return
	}
	mine.err = errNoRoster // what a panic, which is its caller's, leaves to the others
	loaded, err := r.load(ctx)
	if mine.err = err; err != nil {
		return
	}
	mine.roster = index(loaded)
	r.last.Store(mine.roster)
}

func index(loaded *links.Roster) *roster {
	found := &roster{Roster: loaded, present: make(map[feed.Member]bool, len(loaded.Edges))}
	for _, e := range loaded.Edges {
		if e.Answered() {
			found.present[e.Member] = true
		}
	}
	return found
}
