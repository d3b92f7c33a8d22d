package follow

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	leaveTimeout = time.Second
	leaveWait    = 300 * time.Millisecond // for probes in flight, which would join this edge again
)

// errEnded says that Run had ended.
var errEnded = errors.New("the follower has ended")

// leaving is the loop's part of Leave.
type leaving struct {
	done  chan error // nil: not asked to
	until time.Time  // when to go, whatever is in flight
	gone  bool
}

// Leave tells the origins that this edge answers nobody any more, so that no
// write waits for it, and probes no more. It is called once, after the last
// answer and while Run works, and takes a second at most. The error says that
// no origin took it: then a write finds out.
func (f *Follower) Leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	done := make(chan error, 1)
	select {
	case f.leave <- done:
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-f.ended:
		return fmt.Errorf("leave: %w", errEnded)
	case <-ctx.Done():
		return fmt.Errorf("leave: %w", ctx.Err())
	}
}

// depart ends the probes. One that arrived after the last one would join this
// edge again, so those in flight are waited for.
func (f *Follower) depart(ctx context.Context, done chan error) {
	f.leaving = leaving{done: done, until: time.Now().Add(leaveWait)}
	f.departIfDue(ctx, time.Now())
}

func (f *Follower) departIfDue(ctx context.Context, now time.Time) {
	l := &f.leaving
	if l.done == nil || l.gone || f.probing.flying > 0 && now.Before(l.until) {
		return
	}
	l.gone = true
	probe := f.standing()
	probe.Leaving = true
	f.work.Go(func() {
		_, err := f.asker.ask(ctx, probe)
		l.done <- err
	})
}
