package redirect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// fillDeadline bounds one fill, whoever waits for it: a visitor who goes away
// does not cancel it for the others.
const fillDeadline = 5 * time.Second

// flights is the fills on their way to the origin, at most one for each (key,
// epoch, min_seq).
type flights struct {
	origin func(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error)
	places chan struct{} // holds a token for each fill in flight
	owned  sync.WaitGroup

	mu    sync.Mutex
	byKey map[link.Key][]*flight
}

// flight is one fill. entry and err are written once, before done is closed.
type flight struct {
	feed.Fill
	done  chan struct{}
	entry *feed.Entry
	err   error
}

func newFlights(origin func(context.Context, link.Key, uint64, uint64) (*feed.Entry, error), limit int) *flights {
	return &flights{
		origin: origin,
		places: make(chan struct{}, max(limit, 1)),
		byKey:  make(map[link.Key][]*flight),
	}
}

func (f *flights) wait() { f.owned.Wait() }

// load waits for a fill that this request may join (feed.Fill.MayJoin), starting
// one if there is none.
func (f *flights) load(ctx context.Context, key link.Key, need feed.Fill) (*feed.Entry, error) {
	fl := f.join(ctx, key, need)
	select {
	case <-fl.done:
		return fl.entry, fl.err
	case <-ctx.Done():
		return nil, link.ErrUnavailable
	}
}

func (f *flights) join(ctx context.Context, key link.Key, need feed.Fill) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fl := range f.byKey[key] {
		if need.MayJoin(fl.Fill) {
			return fl
		}
	}
	fl := &flight{Fill: need, done: make(chan struct{})}
	f.byKey[key] = append(f.byKey[key], fl)
	f.owned.Go(func() { f.fly(context.WithoutCancel(ctx), key, fl) })
	return fl
}

// fly asks the origin once there is a place. A panic of the client is this
// fill's error: its waiters must not hang.
func (f *flights) fly(ctx context.Context, key link.Key, fl *flight) {
	ctx, cancel := context.WithTimeout(ctx, fillDeadline)
	defer cancel()
	var entry *feed.Entry
	err := link.ErrUnavailable
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("fill %s: panic: %v", key, p)
		}
		f.land(key, fl, entry, err)
	}()
	select {
	case f.places <- struct{}{}:
		defer func() { <-f.places }()
	case <-fl.done: // a pushed value came first
		return
	case <-ctx.Done():
		return
	}
	entry, err = f.origin(ctx, key, fl.Epoch, fl.MinSeq)
}

// land ends a flight, unless it has ended.
func (f *flights) land(key link.Key, fl *flight, entry *feed.Entry, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := f.byKey[key]
	for i, other := range rest {
		if other == fl {
			rest = append(rest[:i:i], rest[i+1:]...)
			fl.entry, fl.err = entry, err
			close(fl.done)
			break
		}
	}
	if len(rest) == 0 {
		delete(f.byKey, key)
	} else {
		f.byKey[key] = rest
	}
}

// pushed ends the flights of the entry's key that it satisfies: the feed was
// faster than the origin's answer.
func (f *flights) pushed(e *feed.Entry) {
	f.mu.Lock()
	waiting := f.byKey[e.Key]
	f.mu.Unlock()
	for _, fl := range waiting {
		if fl.AnsweredBy(e) {
			f.land(e.Key, fl, e, nil)
		}
	}
}
