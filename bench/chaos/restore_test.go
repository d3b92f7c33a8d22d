package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"waypost/bench/fleet"
)

// copied is when a copy of PostgreSQL was made: it has what was answered before, lacks what began after, and may have
// the rest.
type copied struct{ from, until time.Duration }

// settle finds out what became of every write without an answer.
func (w *world) settle() {
	w.t.Helper()
	asker := &writer{history: w.h, origins: w.load.Origins, random: w.random}
	for _, l := range w.load.links {
		for len(l.open) > 0 {
			settled, err := asker.settle(w.t.Context(), l)
			if err != nil {
				w.t.Fatal(err)
			}
			if settled {
				l.open = nil
			}
		}
	}
}

// stand begins a history with the links as they are.
func (w *world) stand() {
	for _, l := range w.load.links {
		w.h.Write(Write{
			Key: l.key, N: l.state.n, Kind: "as it stands", Shows: l.shows, Strict: l.class == "strict",
			Given: true, Known: true, Edges: true,
		})
	}
}

// takeBack asks what a link has become by a restore, notes the writes that are lost by it, and lets its writer go on
// from there. Edges may have shown the one or the other.
func (w *world) takeBack(l *written, writes []*Write, c copied) {
	w.t.Helper()
	target, etag := w.link(l.key)
	was := &Write{Shows: absent()}
	for _, write := range writes {
		there := etag != "" && write.N == target
		gone := etag == "" && write.Shows == absent() && write.Invoked < c.until
		if there || gone {
			was = write
		}
	}
	if etag != "" && was.N != target {
		w.t.Fatalf("link %s: restored as write %d, which nobody made", l.key, target)
	}
	for _, write := range writes {
		if write.N > was.N && write.Known && write.Answered < c.from {
			w.t.Errorf("link %s: %s was answered before the copy was made, which has only write %d", l.key, write, was.N)
		}
	}
	lost := LostWrites{Key: l.key}
	for _, write := range writes {
		if write.N > was.N && write.Known {
			lost.Writes = append(lost.Writes, write.N)
		}
	}
	if len(lost.Writes) > 0 {
		w.result.LostWrites = append(w.result.LostWrites, lost)
	}
	l.state = state{n: was.N, etag: etag, shows: was.Shows}
	w.h.Write(Write{Key: l.key, N: was.N, Kind: "restored", Shows: was.Shows, Strict: l.class == "strict", Given: true})
}

// link is the version that a link's target carries, and its ETag, "" where there is no link.
func (w *world) link(key string) (version int, etag string) {
	w.t.Helper()
	var answer fleet.Answer
	// An origin that is ready may still find one resting connection after the other ended by the restart.
	fleet.Await(w.t, "link "+key, func() (err error) {
		answer, err = w.load.Origins[0].Do(w.t.Context(), http.MethodGet, "/links/"+url.PathEscape(key), nil)
		if err == nil && answer.Status == http.StatusServiceUnavailable {
			err = fmt.Errorf("status %d: %s", answer.Status, answer.Body)
		}
		return err
	})
	var body struct{ Target string }
	switch {
	case answer.Status == http.StatusNotFound:
		return 0, ""
	case answer.Status != http.StatusOK:
		w.t.Fatalf("link %s: status %d: %s", key, answer.Status, answer.Body)
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		w.t.Fatal(err)
	}
	return versionOf(key, body.Target), answer.Header.Get("ETag")
}

// epoch is that of PostgreSQL.
func (w *world) epoch() (uint64, error) {
	heads, err := w.Origins[0].Heads(w.t.Context())
	if err != nil {
		return 0, err
	}
	return heads.Epoch, nil
}

// awaitEpochAfter waits until PostgreSQL and every edge are in one epoch after this one.
func (w *world) awaitEpochAfter(epoch uint64) {
	w.t.Helper()
	fleet.Await(w.t, fmt.Sprintf("an epoch after %d", epoch), func() error {
		now, err := w.epoch()
		if err != nil || now <= epoch {
			return fmt.Errorf("it is %d, %w", now, err)
		}
		for _, e := range w.Edges {
			m, err := e.Metrics(w.t.Context())
			if err != nil {
				return err
			}
			if at, err := m.Sum("waypost_edge_epoch"); err != nil || uint64(at) != now {
				return fmt.Errorf("%s is in epoch %v, PostgreSQL in %d, %w", e.Name, at, now, err)
			}
		}
		return nil
	})
}
