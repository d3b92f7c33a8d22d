package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// read reads a request's body into memory, within its limit, so that whatever
// goes wrong with it is told by one room: huma takes a broken upload for a
// fault of the server.
func (a *API) read(b *body) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if b == nil {
			next(ctx)
			return
		}
		r, w := humago.Unwrap(ctx)
		if b.turns != nil {
			select {
			case b.turns <- struct{}{}:
				defer func() { <-b.turns }() // once the answer is written
			default:
				a.outages.Note(r.Context(), requestIDOf(r.Context()), errNoTurn)
				newProblem(http.StatusServiceUnavailable, "too many requests with large bodies at the same time").
					with("Retry-After", "1").write(w)
				return
			}
		}
		raw, err := b.read(w, r)
		if err != nil {
			a.problemOf(r.Context(), err).write(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		next(ctx)
	}
}

var errNoTurn = errors.New("too many requests with large bodies at the same time")

// read returns the body, which is never empty, or a *problemError.
func (b *body) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := b.checkMedia(r.Header); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, b.limit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		// What is left of it is not read, so nothing can follow on this connection.
		return nil, newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", b.limit)).
			with("Connection", "close")
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return nil, newProblem(http.StatusRequestTimeout, "the body did not arrive in time")
	}
	switch {
	case err != nil:
		return nil, newProblem(http.StatusBadRequest, "the body did not arrive whole")
	case len(raw) == 0:
		return nil, newProblem(http.StatusBadRequest, "the body is empty")
	}
	return raw, nil
}

func (b *body) checkMedia(h http.Header) error {
	accepted := strings.Join(b.media, " or ")
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return newProblem(http.StatusUnsupportedMediaType, "the body must not be compressed")
	}
	sent := h.Get("Content-Type")
	if sent == "" {
		return nil
	}
	media, params, err := mime.ParseMediaType(sent)
	charset, given := params["charset"]
	if err != nil || !slices.Contains(b.media, media) || given && !strings.EqualFold(charset, "utf-8") {
		return newProblem(http.StatusUnsupportedMediaType, "the body must be "+accepted+" in UTF-8").with("Accept", strings.Join(b.media, ", "))
	}
	return nil
}
