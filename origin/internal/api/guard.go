package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"waypost/shared/ops"
)

// ServeHTTP answers one request: it stands between net/http and the routes, and
// everything that holds for all of them is done here.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := ops.RequestID(r.Header.Get("X-Request-Id"))
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), idOfRequest{}, id), requestTimeout)
	defer cancel()
	leave := sync.OnceFunc(func() { <-a.slots })
	ctx = context.WithValue(ctx, slotOfRequest{}, leave)
	out := newResponse(w, parseCodings(r.Header.Values("Accept-Encoding")), a.gzips)
	ctx = context.WithValue(ctx, headerOfAnswer{}, out.Header())
	ctx = context.WithValue(ctx, accountOfRequest{}, new(account))
	r = r.WithContext(ctx)
	r.Header.Del("Accept") // there is one representation of everything
	joinLines(r.Header, "If-Match", "If-None-Match")
	out.Header().Set("X-Request-Id", id)
	out.Header().Set("Cache-Control", "no-store")
	out.Header().Set("X-Content-Type-Options", "nosniff")
	a.cors.allow(r, out.Header())
	out.settle()
	defer func() {
		took := time.Since(start)
		a.metrics.observe(r.Pattern, out.status, took)
		a.tell(r, out.status, took)
	}()
	defer a.recover(out, r)
	select {
	case a.slots <- struct{}{}:
		defer leave()
		a.route(out, r)
		out.end()
	default:
		a.outages.Note(ctx, id, errCrowded)
		newProblem(http.StatusServiceUnavailable, "too many requests at the same time").with("Retry-After", "1").write(out)
	}
}

var errCrowded = errors.New("too many requests at the same time")

// joinLines makes one line of a list that was sent in several, which mean the
// same (RFC 9110, 5.3): the library reads only the first.
func joinLines(h http.Header, names ...string) {
	for _, name := range names {
		if lines := h.Values(name); len(lines) > 1 {
			h.Set(name, strings.Join(lines, ", "))
		}
	}
}

// recover turns a panic into one log line and, if nothing was sent yet, a 500.
func (a *API) recover(out *response, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is what net/http knows
		panic(p)
	}
	a.logger.LogAttrs(r.Context(), slog.LevelError, "request panicked",
		slog.String("request_id", requestIDOf(r.Context())), slog.String("route", r.Pattern),
		slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
	if !out.revert() {
		panic(http.ErrAbortHandler) // so that the client does not take half an answer for one
	}
	internal().write(out)
}

// route finds the route and says in our words if there is none.
func (a *API) route(w http.ResponseWriter, r *http.Request) {
	if !canonical(r) {
		newProblem(http.StatusNotFound, "there is nothing at this path").write(w)
		return
	}
	if _, pattern := a.mux.Handler(r); pattern != "" {
		a.mux.ServeHTTP(w, r) // again, because only this sets the path's values
		return
	}
	switch methods := a.methods(r); {
	case methods == "":
		newProblem(http.StatusNotFound, "there is nothing at this path").write(w)
	case r.Method == http.MethodOptions:
		a.options(w, r, methods)
	default:
		newProblem(http.StatusMethodNotAllowed, "the path does not know the method "+r.Method).with("Allow", methods).write(w)
	}
}

// canonical reports whether the mux would take the path as it is. It redirects
// from others, in HTML.
func canonical(r *http.Request) bool {
	p := r.URL.EscapedPath()
	return r.Method != http.MethodConnect && strings.HasPrefix(p, "/") &&
		(p == "/" || path.Clean(p) == strings.TrimSuffix(p, "/"))
}
