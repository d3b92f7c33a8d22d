package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"waypost/origin/internal/clicks"
	"waypost/origin/internal/links"
	"waypost/shared/link"
)

const (
	liveTick    = time.Second
	liveRecheck = 5 * time.Second // between two looks at whether a view may go on
	liveWrite   = 5 * time.Second // for one tick's events; whoever reads slower is dropped
)

// LiveClicks is what was counted in one second. It comes every second, so that a
// client can tell silence from a lost connection.
type LiveClicks struct {
	At time.Time `json:"at" doc:"The end of the second"`
	Tally
}

// liveView streams events to the client. What it would lose by reading slowly it
// is not sent later: a view holds sums, no queue.
func (a *API) liveView(ctx context.Context, in *LinkPath) (*huma.StreamResponse, error) {
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	l, err := a.links.Get(ctx, callerOf(ctx), key)
	if err != nil {
		return nil, in.named(err)
	}
	view, err := a.views.Open(uint64(l.ID), viewerOf(ctx)) //nolint:gosec // never negative
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer view.Close()
		r, w := humago.Unwrap(hc)
		a.stream(r, newEvents(w), view, &l)
	}}, nil
}

// viewerOf is on whose behalf the request of this context asks.
func viewerOf(ctx context.Context) clicks.Viewer {
	key, _ := ctx.Value(keyOfRequest{}).(links.APIKey)
	return clicks.Viewer{Key: key.ID, Owner: key.Owner}
}

// stream sends what the view shows until the client is gone or too slow, the
// view ends, or the client may not see the link any more. It outlives the time
// that a request has and its place among those in flight; that the client is
// gone it learns by its next write.
func (a *API) stream(r *http.Request, out *events, view *clicks.View, l *link.Link) {
	leaveSlot(r.Context())
	if out.open() != nil || r.Method == http.MethodHead {
		return
	}
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	var watch sync.WaitGroup
	watch.Go(func() {
		defer end()
		a.whileAllowed(ctx, r, l)
	})
	defer watch.Wait()
	defer end()
	tick := time.NewTicker(liveTick)
	defer tick.Stop()
	for {
		select {
		case at := <-tick.C:
			if out.send(at, view.Moment()) != nil {
				return
			}
		case <-view.Ended():
			return
		case <-ctx.Done():
			return
		}
	}
}

// whileAllowed returns when the request's key is not valid any more, when its
// holder may not see this link any more, or when ctx ends. Where the store does
// not say, nothing has changed.
func (a *API) whileAllowed(ctx context.Context, r *http.Request, l *link.Link) {
	tick := time.NewTicker(liveRecheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		bounded, cancel := context.WithTimeout(ctx, liveRecheck)
		ended := a.ended(bounded, r, l)
		cancel()
		if ended {
			return
		}
	}
}

// ended asks whether a view of the link may not go on.
func (a *API) ended(ctx context.Context, r *http.Request, l *link.Link) bool {
	key, err := a.authenticate(r.WithContext(ctx))
	var now link.Link
	if err == nil {
		now, err = a.links.Get(ctx, key.Caller(), l.Key)
	}
	switch {
	case err == nil:
		return now.ID != l.ID
	case errors.Is(ctx.Err(), context.Canceled):
		return true // it is over already
	}
	return a.problemOf(ctx, err).Status < http.StatusInternalServerError
}
