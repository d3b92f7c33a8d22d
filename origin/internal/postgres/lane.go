package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"waypost/shared/link"
)

const (
	// maxTogether is the most jobs of one transaction of the lane.
	maxTogether = 64

	// briefWait bounds the wait of a transaction of several jobs for a lock, which
	// is no business of most of them. Alone they wait as long as a write may.
	briefWait = 250 * time.Millisecond

	lockTimeout, statementTimeout = "55P03", "57014"

	rolledBack = "40" // a class: deadlock, serialisation
)

// errNoVerdict is what a panic, which is its caller's, leaves to the others.
var errNoVerdict = errors.New("write ended without a result")

// lane carries out writes of single links, one transaction after the other, so
// that no two of them wait for each other within PostgreSQL. Whoever finds it free
// writes at once, and alone; what comes meanwhile waits, and is written by one
// transaction when the lane is free again. So it costs one commit however many
// they are, and nobody waits for company. Transactions run in the goroutines of
// their callers.
//
// There is one for all shards. (Measured with 16 callers on two processors, who
// also were the database's and busy with others' work: 1,615 links a second, and
// 236 µs of a processor in PostgreSQL for each; with two lanes, of half the shards
// each, 976 and 382 µs.)
type lane struct {
	mu      sync.Mutex
	busy    bool
	waiting []*waiter // in the order in which they came
}

// waiter is a job that waits for its turn, and its caller for the verdict.
type waiter struct {
	job  *job
	told chan verdict // takes the one that there is
}

// verdict is what became of a waiter. If it is nothing else, the job is settled.
type verdict struct {
	lead     []*waiter // these are for the waiter, who is the first of them, to write
	alone    bool      // nothing is written: it waited with others for what may be none of its business
	collided bool
	err      error // of all that were written together
}

// write has a job carried out by write, together with others. A verdict that has
// come is heard even if ctx ends first: the job may be written. The context of
// the call of write ends with none of those who wait for it.
func (l *lane) write(ctx context.Context, j *job, write func(context.Context, []*job) ([]*job, error)) verdict {
	w := &waiter{job: j, told: make(chan verdict, 1)}
	group := []*waiter{w}
	if !l.enter(w) {
		v := l.wait(ctx, w)
		if v.lead == nil {
			return v
		}
		group = v.lead
	}
	defer l.pass()
	return carry(context.WithoutCancel(ctx), group, write)
}

// enter takes the lane if it is free, or else a place among those who wait.
func (l *lane) enter(w *waiter) (free bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy {
		l.waiting = append(l.waiting, w)
		return false
	}
	l.busy = true
	return true
}

func (l *lane) wait(ctx context.Context, w *waiter) verdict {
	select {
	case v := <-w.told:
		return v
	case <-ctx.Done():
	}
	if l.leave(w) {
		return verdict{err: fmt.Errorf("postgres write: %w: %w", link.ErrUnavailable, ctx.Err())}
	}
	return <-w.told
}

// leave gives up a waiter's place; ok is false if its turn has come.
func (l *lane) leave(w *waiter) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.waiting {
		if l.waiting[i] == w {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// pass hands the lane on to the first who waits, with those that can be written
// together with it.
func (l *lane) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.busy = false
		return
	}
	var group, later []*waiter
	var met apart
	for _, w := range l.waiting {
		if len(group) == maxTogether || !met.add(w.job) {
			later = append(later, w)
			continue
		}
		group = append(group, w)
	}
	l.waiting = later
	group[0].told <- verdict{lead: group}
}

// carry writes a group, tells all but its first what became of them, and returns
// what became of that.
func carry(ctx context.Context, group []*waiter, write func(context.Context, []*job) ([]*job, error)) verdict {
	jobs := make([]*job, len(group))
	for i, w := range group {
		jobs[i] = w.job
	}
	err := errNoVerdict
	collided := make(map[*job]bool)
	of := func(w *waiter) verdict {
		switch {
		case w.job.done: // before what failed
			return verdict{}
		case collided[w.job], w.job.key.Code == "":
			return verdict{collided: true}
		}
		return verdict{alone: len(group) > 1 && inVain(err), err: err}
	}
	defer func() {
		for _, w := range group[1:] {
			w.told <- of(w)
		}
	}()
	var again []*job
	again, err = write(ctx, jobs)
	for _, j := range again {
		collided[j] = true
	}
	return of(group[0])
}

// inVain reports an error by which the server gave a transaction up because of
// somebody else's: one job of a group may have waited for that, and none of the
// others. Nothing was written.
func inVain(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == lockTimeout || e.Code == statementTimeout || e.Code[:2] == rolledBack)
}
