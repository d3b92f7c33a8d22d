package stampede

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// fill takes the entry from another origin's load if it can be had there, else
// from PostgreSQL, and leaves for other origins what it loaded.
func (l *Loader) fill(ctx context.Context, w want) (*feed.Entry, error) {
	if l.lock == nil {
		return l.read(ctx, w)
	}
	token := rand.Text()
	turn := l.lock.await(ctx, w, token)
	switch turn.outcome {
	case shared:
		l.count.shared.Add(1)
		return turn.entry, nil
	case failed:
		l.count.redisFailed.Add(1)
		return l.read(ctx, w)
	case skipped:
		l.count.redisSkipped.Add(1)
		return l.read(ctx, w)
	case waitedOut:
		l.count.waitedOut.Add(1)
	default: // held
	}
	var loaded *feed.Entry
	// Deferred, so that a load that panics frees the lock too. Somebody who
	// waited in vain leaves the result as well: the holder seems to be gone, and
	// whoever comes next need not wait for it.
	defer func() { l.lock.leave(ctx, w.key, token, loaded) }()
	e, err := l.read(ctx, w)
	loaded = e
	return e, err
}

// read loads from PostgreSQL as soon as one of the slots is free.
func (l *Loader) read(ctx context.Context, w want) (*feed.Entry, error) {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		l.count.refused.Add(1)
		return nil, fmt.Errorf("no turn in time: %w", link.ErrUnavailable)
	}
	l.count.loaded.Add(1)
	e, err := l.load(ctx, w.key)
	switch {
	case err != nil && ctx.Err() != nil && !errors.Is(err, link.ErrUnavailable):
		return nil, fmt.Errorf("%w: %w", link.ErrUnavailable, err)
	case err != nil:
		return nil, err
	case e == nil:
		return nil, errNoResult
	case w.behind(e):
		return nil, fmt.Errorf("position %d of epoch %d is before %d: %w", e.AsOf, e.Epoch, w.minSeq, link.ErrUnavailable)
	}
	return e, nil
}
