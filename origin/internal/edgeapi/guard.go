package edgeapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"waypost/shared/link"
)

// authorized refuses requests without the secret. Both sides are hashed, so
// that the time of the comparison tells neither content nor length.
func (h *handler) authorized(next http.Handler) http.Handler {
	wanted := sha256.Sum256([]byte(h.cfg.Secret))
	open := h.cfg.Secret == "" && h.cfg.AllowAnyone
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		given := sha256.Sum256([]byte(secret))
		known := subtle.ConstantTimeCompare(given[:], wanted[:]) == 1 &&
			h.cfg.Secret != "" && strings.EqualFold(scheme, "Bearer")
		if !known && !open {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crowded turns away what is more than this process should have in hand.
func (h *handler) crowded(next http.Handler) http.Handler {
	slots := make(chan struct{}, h.cfg.MaxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			h.unavailable(w, r, errCrowded)
		}
	})
}

var errCrowded = errors.New("too many requests at the same time")

// page makes a call wait for its turn. Pages are large, and after an outage
// every edge asks for all shards at once: waiting a moment is better than being
// sent away for a second.
func (h *handler) page(c call) call {
	return func(r *http.Request) (answer, error) {
		done, err := turn(r.Context(), h.pages)
		if err != nil {
			return answer{}, err
		}
		defer done()
		return c(r)
	}
}

// turn takes a slot as soon as one is free, until done is called. It waits no
// longer than ctx lasts.
func turn(ctx context.Context, slots chan struct{}) (done func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no turn in time: %w", link.ErrUnavailable)
	}
}

// recovered makes a panic a 500 of its request and one line in the log.
func (h *handler) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer h.rescue(w, r)
		next.ServeHTTP(w, r)
	})
}

// rescue is deferred. Handlers write nothing before they have the whole answer,
// so the status is still free.
func (h *handler) rescue(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is what net/http knows
		panic(p)
	}
	h.cfg.Logger.LogAttrs(r.Context(), slog.LevelError, "panic in an internal request",
		slog.String("request_id", requestIDOf(r.Context())),
		slog.String("path", r.URL.Path), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
	http.Error(w, "internal error", http.StatusInternalServerError)
}
