package main

import (
	"context"
	"math/rand/v2"
	"time"

	"waypost/shared/ops"
)

const (
	retryMin = 100 * time.Millisecond
	retryMax = 2 * time.Second

	watchPause   = time.Second
	watchTimeout = time.Second
)

// watch asks a dependency every second or so and tells its part, so that
// /readyz is right when no request is on its way.
func watch(ctx context.Context, part *ops.Part, ask func(context.Context) error) error {
	for {
		bounded, cancel := context.WithTimeout(ctx, watchTimeout)
		err := ask(bounded)
		cancel()
		if ctx.Err() == nil {
			report(part)(err)
		}
		if !pause(ctx, jittered(watchPause)) {
			return nil
		}
	}
}

// pause reports whether ctx lasted as long.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jittered is d ± 25 %, so that origins which started together do not ask
// together.
func jittered(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2) //nolint:gosec // spreads load, keeps no secret
}
