package stampede

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// flight is one load and everybody who waits for it, from its start until its
// result is left for other origins.
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
	var token string
	var loaded *feed.Entry
	defer func() {
		cancel()
		if p := recover(); p != nil {
			f.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		l.land(ctx, w, f, token, loaded)
	}()
	if f.entry, token = l.begin(ctx, w); f.entry != nil {
		f.err = nil
		return
	}
	loaded, f.err = l.read(ctx, w)
	f.entry = loaded
}

// land answers everybody who waits. For what there is to leave in Redis, the lock
// and beside it what was loaded, nobody waits: it is left after that. Until then the flight can still be joined, so
// that no load of this origin waits for a lock which is about to go; what it gets
// is no older than what the lock would have led it to. A load that failed is not
// to be joined, and its lock is free before anybody can try again.
func (l *Loader) land(ctx context.Context, w want, f *flight, token string, loaded *feed.Entry) {
	if token != "" && f.err == nil {
		close(f.done)
		runtime.Gosched() // those who waited go first
		l.lock.leave(ctx, w.key, token, loaded)
		l.forget(w)
		return
	}
	if token != "" {
		l.lock.leave(ctx, w.key, token, nil)
	}
	l.forget(w)
	close(f.done)
}

func (l *Loader) forget(w want) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.flights, w)
}
