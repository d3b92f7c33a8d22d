package api

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"time"

	"waypost/origin/internal/clicks"
)

const mediaEvents = "text/event-stream"

// The names of events.
const (
	eventClick  = "click"
	eventClicks = "clicks"
)

// events writes a stream of server-sent events, each in JSON.
type events struct {
	w   http.ResponseWriter
	out *http.ResponseController
	buf bytes.Buffer
}

func newEvents(w http.ResponseWriter) *events {
	return &events{w: w, out: http.NewResponseController(w)}
}

// open sends the headers, so that the client knows that it is heard.
func (e *events) open() error {
	e.w.Header().Set("Content-Type", mediaEvents)
	e.w.Header().Set("X-Accel-Buffering", "no") // or nginx would hold events back
	if err := e.deadline(); err != nil {
		return err
	}
	e.w.WriteHeader(http.StatusOK)
	return e.out.Flush()
}

// send writes the events of one moment: its clicks, oldest first, and their sum.
func (e *events) send(at time.Time, m clicks.Moment) error {
	e.buf.Reset()
	for _, c := range slices.Backward(m.Newest) {
		if err := e.add(eventClick, showClick(&c)); err != nil {
			return err
		}
	}
	if err := e.add(eventClicks, LiveClicks{At: at.UTC(), Tally: tally(m.Tally)}); err != nil {
		return err
	}
	if err := e.deadline(); err != nil {
		return err
	}
	if _, err := e.w.Write(e.buf.Bytes()); err != nil {
		return err
	}
	return e.out.Flush()
}

// deadline takes the place of the server's own, which is for whole answers.
func (e *events) deadline() error { return e.out.SetWriteDeadline(time.Now().Add(liveWrite)) }

// add appends one event. JSON has no line breaks, so it is one line of data.
func (e *events) add(name string, v any) error {
	_, _ = fmt.Fprintf(&e.buf, "event: %s\ndata: ", name)
	err := writeJSON(&e.buf, v) // which ends in a line break
	e.buf.WriteByte('\n')
	return err
}
