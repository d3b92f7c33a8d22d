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
	r = r.WithContext(ctx)
	r.Header.Del("Accept") // there is one representation of everything
	joinLines(r.Header, "If-Match", "If-None-Match")
	out := &response{ResponseWriter: w}
	out.Header().Set("X-Request-Id", id)
	out.Header().Set("Cache-Control", "no-store")
	out.Header().Set("X-Content-Type-Options", "nosniff")
	defer func() { a.metrics.observe(r.Pattern, out.status, time.Since(start)) }()
	defer a.recover(out, r)
	select {
	case a.slots <- struct{}{}:
		defer leave()
		a.route(out, r)
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
	if out.status != 0 {
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
	h, pattern := a.mux.Handler(r)
	if pattern != "" {
		a.mux.ServeHTTP(w, r) // again, because only this sets the path's values
		return
	}
	// Without a match the mux hands out its own answer, 404 or 405, as text.
	answer := verdict{header: make(http.Header)}
	h.ServeHTTP(&answer, r)
	if answer.status == http.StatusMethodNotAllowed {
		newProblem(http.StatusMethodNotAllowed, "the path does not know the method "+r.Method).
			with("Allow", answer.header.Get("Allow")).write(w)
		return
	}
	newProblem(http.StatusNotFound, "there is nothing at this path").write(w)
}

// canonical reports whether the mux would take the path as it is. It redirects
// from others, in HTML.
func canonical(r *http.Request) bool {
	p := r.URL.EscapedPath()
	return r.Method != http.MethodConnect && strings.HasPrefix(p, "/") &&
		(p == "/" || path.Clean(p) == strings.TrimSuffix(p, "/"))
}

// response notes what was sent, 0 for nothing yet.
type response struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status of the answer, not those before it (1xx).
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implies 200, as net/http has it.
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// verdict keeps status and headers of an answer and drops its body.
type verdict struct {
	header http.Header
	status int
}

// Header returns the headers of the answer.
func (v *verdict) Header() http.Header { return v.header }

// WriteHeader notes the status.
func (v *verdict) WriteHeader(status int) { v.status = status }

// Write drops b.
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }
