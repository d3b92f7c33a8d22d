package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"waypost/bench/fleet"
)

// callLimit bounds one call of a writer. An origin that hangs is left after it, and the write may have happened or not.
const callLimit = 3 * time.Second

// writer changes the links of some keys that nobody else changes, one after the other. Each change names the version
// that it expects to find, so that one which was given up can never take effect after a later one.
type writer struct {
	history *History
	origins []*fleet.API
	random  *rand.Rand
	links   []*written
	at      int  // the origin in use
	hasty   bool // waits for no edge
}

// written is a link as its writer knows it.
type written struct {
	key   string
	class string
	n     int // of the last write
	state
	open []*Write // writes since the last one that is known to have happened: each may still happen
}

// write makes the next change of a link, drawn, or finds out what became of the last one. The error tells that the
// origins lost or made up a change.
func (w *writer) write(ctx context.Context, l *written) error {
	if len(l.open) > 0 {
		if settled, err := w.settle(ctx, l); !settled {
			return err
		}
	}
	return w.make(ctx, l, l.next(w.random, l.key, l.n+1, l.class))
}

// make makes a change that carries the number after the link's last one. The error is as that of write.
func (w *writer) make(ctx context.Context, l *written, s step) error {
	l.n++
	begun := w.history.Write(Write{
		Key: l.key, N: l.n, Kind: s.kind, Shows: s.shows, Strict: l.class == "strict", Invoked: w.history.Now(),
	})
	answer, told := w.call(ctx, l.etag, s.method, w.path(l, s), s.fields)
	switch {
	case !told:
		l.open = append(l.open, begun)
		return nil
	case answer.Status/100 != 2 && len(l.open) > 0 && conflict(answer.Status):
		w.history.Refused(begun) // an earlier one has happened after all
		return nil
	case answer.Status/100 != 2:
		return fmt.Errorf("%s of %s, write %d: status %d: %s", s.kind, l.key, l.n, answer.Status, answer.Body)
	}
	receipt, err := answer.Receipt()
	if err != nil {
		return fmt.Errorf("%s of %s, write %d: %w", s.kind, l.key, l.n, err)
	}
	w.history.Happened(begun, receipt.Ack == "edges", receipt.Edges, receipt.Acked)
	l.open = nil
	l.state = state{n: l.n, shows: s.shows, etag: answer.Header.Get("ETag")}
	return nil
}

// path is a write's, with what it waits for: one half of them for the edges, unless the writer is hasty.
func (w *writer) path(l *written, s step) string {
	path := "/links"
	if s.method != http.MethodPost {
		path += "/" + url.PathEscape(l.key)
	}
	if w.hasty || w.random.IntN(2) == 0 {
		return path + "?ack=commit"
	}
	return path + "?ack=edges"
}

// conflict is an answer that says that the link is not in the state that a write expected.
func conflict(status int) bool {
	return status == http.StatusPreconditionFailed || status == http.StatusConflict || status == http.StatusNotFound
}

// settle asks what the link is, so that the next write can name its version. It is false while no origin answers.
func (w *writer) settle(ctx context.Context, l *written) (settled bool, err error) {
	answer, told := w.call(ctx, "", http.MethodGet, "/links/"+url.PathEscape(l.key), nil)
	switch {
	case !told:
		return false, nil
	case answer.Status == http.StatusNotFound:
		return w.found(l, state{shows: absent()})
	case answer.Status != http.StatusOK:
		return false, fmt.Errorf("link %s: status %d: %s", l.key, answer.Status, answer.Body)
	}
	var body struct{ Target string }
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		return false, fmt.Errorf("link %s: %w", l.key, err)
	}
	return w.found(l, state{n: versionOf(l.key, body.Target), etag: answer.Header.Get("ETag")})
}

// found compares a link with what it may be: as the last write that is known left it, or one of those after it.
func (w *writer) found(l *written, now state) (settled bool, err error) {
	for _, open := range l.open {
		if now.etag == "" && open.Shows == absent() || now.etag != "" && open.N == now.n {
			if !open.Known {
				w.history.Happened(open, false, 0, 0)
			}
			l.state = state{n: open.N, shows: open.Shows, etag: now.etag}
			return true, nil
		}
	}
	if now.etag == l.etag {
		return true, nil // none of them has happened
	}
	return false, fmt.Errorf("link %s is at write %d, ETag %s, after the acknowledged write %d, ETag %s", l.key, now.n, now.etag, l.state.n, l.etag)
}

// call calls the origin in use. Where that does not answer, or not with what became of the call, told is false, and the
// next call is for the next origin.
func (w *writer) call(ctx context.Context, match, method, path string, fields fleet.Fields) (answer fleet.Answer, told bool) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var body any
	if fields != nil {
		body = fields
	}
	answer, err := w.origins[w.at].DoIf(ctx, match, method, path, body)
	if err != nil || answer.Status >= http.StatusInternalServerError {
		w.at = (w.at + 1) % len(w.origins)
		return fleet.Answer{}, false
	}
	return answer, true
}
