package edgeapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"waypost/shared/link"
)

// answer is the body of a 200 and the epoch it holds in.
type answer struct {
	epoch       uint64 // 0: in none
	contentType string
	body        []byte
}

const octets = "application/octet-stream"

// call answers one request. Its errors are a paramError or those of the stores.
type call func(r *http.Request) (answer, error)

// fill answers /v1/fill.
func (h *handler) fill(r *http.Request) (answer, error) {
	q := parse(r)
	key := link.Key{Domain: q.domain("domain"), Code: q.code("code")}
	epoch, minSeq := q.position("epoch"), q.position("min")
	if err := q.fault(); err != nil {
		return answer{}, err
	}
	e, err := h.fills.Load(r.Context(), key, epoch, minSeq)
	if err != nil {
		return answer{}, err
	}
	return answer{epoch: e.Epoch, contentType: octets, body: e.Append(nil)}, nil
}

// changes answers /v1/changes.
func (h *handler) changes(r *http.Request) (answer, error) {
	q := parse(r)
	shard, epoch, from := q.anyShard("shard"), q.position("epoch"), q.position("from")
	if err := q.fault(); err != nil {
		return answer{}, err
	}
	c, err := h.feeds.Changes(r.Context(), shard, epoch, from)
	if err != nil {
		return answer{}, fmt.Errorf("changes of shard %d after %d: %w", shard, from, err)
	}
	return answer{epoch: c.Epoch, contentType: octets, body: c.Append(nil)}, nil
}

// codes answers /v1/codes. Without a key to go on after it is the first page.
func (h *handler) codes(r *http.Request) (answer, error) {
	q := parse(r)
	shard, after := q.linkShard("shard"), link.Key{Domain: q.domain("after_domain"), Code: q.codeOrNone("after_code")}
	if err := q.fault(); err != nil {
		return answer{}, err
	}
	c, err := h.feeds.Codes(r.Context(), shard, after)
	if err != nil {
		return answer{}, fmt.Errorf("codes of shard %d: %w", shard, err)
	}
	return answer{epoch: c.Epoch, contentType: octets, body: c.Append(nil)}, nil
}

// wholeConfig answers /v1/config.
func (h *handler) wholeConfig(r *http.Request) (answer, error) {
	cfg, err := h.config.Config(r.Context())
	if err != nil {
		return answer{}, fmt.Errorf("config: %w", err)
	}
	return answer{epoch: cfg.Epoch, contentType: "application/json", body: cfg.Append(nil)}, nil
}

// within bounds a call, so that a PostgreSQL that hangs cannot hold it.
func within(limit time.Duration, c call) call {
	return func(r *http.Request) (answer, error) {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		return c(r.WithContext(ctx))
	}
}

// route is routeWithin the time that most calls have.
func (h *handler) route(c call) http.HandlerFunc { return h.routeWithin(h.cfg.Timeout, c) }

// routeWithin turns the outcome of a call into a response, and its error into a
// status: the one table of this package.
func (h *handler) routeWithin(limit time.Duration, c call) http.HandlerFunc {
	c = within(limit, c)
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := c(r)
		var bad paramError
		var invalid *link.InvalidError // such as an edge's name that cannot be stored
		switch {
		case err == nil:
			w.Header().Set("Content-Type", a.contentType)
			w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
			w.Header().Set("Cache-Control", "no-store")
			if a.epoch > 0 {
				w.Header().Set("Waypost-Epoch", strconv.FormatUint(a.epoch, 10))
			}
			_, _ = w.Write(a.body) // an edge that is gone asks again
		case errors.Is(err, errTooLarge):
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		case errors.As(err, &bad):
			http.Error(w, bad.Error(), http.StatusBadRequest)
		case errors.As(err, &invalid):
			http.Error(w, invalid.Error(), http.StatusBadRequest)
		case errors.Is(err, link.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), r.Context().Err() != nil:
			h.unavailable(w, r, err)
		default:
			h.cfg.Logger.LogAttrs(r.Context(), slog.LevelError, "internal request",
				slog.String("request_id", requestIDOf(r.Context())), slog.String("path", r.URL.Path), slog.Any("error", err))
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}
}

// unavailable asks the edge to come again; it has other origins meanwhile.
func (h *handler) unavailable(w http.ResponseWriter, r *http.Request, cause error) {
	h.outages.Note(r.Context(), requestIDOf(r.Context()), cause)
	w.Header().Set("Retry-After", "1")
	http.Error(w, "unavailable", http.StatusServiceUnavailable)
}
