package stampede

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// begin takes the entry from another origin's load if it can be had there. If
// not, the caller has to load it. token, unless it is "", is by what the lock is to
// be left, with the result for other origins if it was loaded here.
func (l *Loader) begin(ctx context.Context, w want) (e *feed.Entry, token string) {
	if l.lock == nil {
		return nil, ""
	}
	token = rand.Text()
	turn := l.lock.await(ctx, w, token)
	switch turn.outcome {
	case shared:
		l.count.shared.Add(1)
		if !turn.locked {
			token = ""
		}
		return turn.entry, token
	case failed:
		l.count.redisFailed.Add(1)
		return nil, ""
	case skipped:
		l.count.redisSkipped.Add(1)
		return nil, ""
	case waitedOut:
		// The holder seems to be gone: with a result beside its lock, whoever comes
		// next need not wait for it.
		l.count.waitedOut.Add(1)
	default: // held
	}
	return nil, token
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
