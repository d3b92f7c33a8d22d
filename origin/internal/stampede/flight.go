package stampede

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// flight is one load under way and everybody who waits for it.
type flight struct {
	done  chan struct{}
	entry *feed.Entry
	err   error // both are written before done is closed
}

var (
	errClosed   = fmt.Errorf("loader is closed: %w", link.ErrUnavailable)
	errCrowded  = fmt.Errorf("too many loads under way: %w", link.ErrUnavailable)
	errNoResult = errors.New("load ended without a result")
)

// board joins the flight for w, or starts one. A flight outlives the caller
// that started it and keeps only the values of its context.
func (l *Loader) board(ctx context.Context, w want) (*flight, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if l.cfg.NoSingleflight {
		l.serial++
		w.serial = l.serial
	}
	if f := l.flights[w]; f != nil {
		l.count.joined.Add(1)
		return f, nil
	}
	if len(l.flights) >= l.cfg.MaxFlights {
		l.count.refused.Add(1)
		return nil, errCrowded
	}
	f := &flight{done: make(chan struct{})}
	l.flights[w] = f
	l.owned.Go(func() { l.fly(context.WithoutCancel(ctx), w, f) })
	return f, nil
}

// fly completes f whatever becomes of the load: a panic, which would end the
// process from this goroutine, becomes the error of everybody who waits.
func (l *Loader) fly(ctx context.Context, w want, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Deadline)
	f.err = errNoResult // what is left by runtime.Goexit
	defer func() {
		cancel()
		if p := recover(); p != nil {
			f.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		l.mu.Lock()
		delete(l.flights, w)
		l.mu.Unlock()
		close(f.done)
	}()
	f.entry, f.err = l.fill(ctx, w)
}
