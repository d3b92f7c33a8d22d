package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// account is what is told of a request once it is answered, besides what its
// answer shows. It belongs to the request's goroutine.
type account struct {
	key string // id of the API key; "": none was proven
}

// accountOf is the request's account; one made up outside of a request, which
// nobody reads.
func accountOf(ctx context.Context) *account {
	if told, ok := ctx.Value(accountOfRequest{}).(*account); ok {
		return told
	}
	return new(account)
}

// tell writes the one line that every request has in the log, once it is
// answered: how it came out and whose key it was, and nothing that its path,
// query, headers or body said. status is 0 where nothing was sent.
func (a *API) tell(r *http.Request, status int, took time.Duration) {
	key := accountOf(r.Context()).key
	a.logger.LogAttrs(r.Context(), levelOf(status, key), "request",
		slog.String("request_id", requestIDOf(r.Context())), slog.String("method", shorten(r.Method)),
		slog.String("route", r.Pattern), slog.Int("status", status), slog.Duration("duration", took), slog.String("key", key))
}

// levelOf is the level of a request's line. What the holder of a key gets wrong
// is worth a look; what comes without one may come in floods; and the cause of a
// 5xx has a line of its own.
func levelOf(status int, key string) slog.Level {
	if key != "" && status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
