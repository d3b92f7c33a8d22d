package api

import (
	"context"
	"net/http"
)

// turns bound how many requests do something costly at the same time, by their
// capacity.
type turns chan struct{}

// take waits for a turn, which release ends. The error, of a ctx that ended
// before, is a *problemError that says of what there were too many.
func (t turns) take(ctx context.Context, what string) (release func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, newProblem(http.StatusServiceUnavailable, "too many "+what+" at the same time").with("Retry-After", "1")
	}
}
