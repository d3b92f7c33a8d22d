package api

import (
	"maps"
	"net/http"
	"strconv"
)

// response is an answer on its way to the client. It holds the header until the
// first bytes of the body are there, so that the body can still be compressed,
// and an answer that fails before can still become another one.
type response struct {
	http.ResponseWriter
	accepts codings
	gzips   gzips
	status  int         // 0: nothing was said yet
	sent    bool        // the header is
	before  http.Header // what it was when the request came in
}

func newResponse(w http.ResponseWriter, accepts codings, gzips gzips) *response {
	return &response{ResponseWriter: w, accepts: accepts, gzips: gzips}
}

// WriteHeader notes the status of the answer; those before it (1xx) it sends.
func (w *response) WriteHeader(status int) {
	switch {
	case status < http.StatusOK:
		w.ResponseWriter.WriteHeader(status)
	case w.status == 0:
		w.status = status
	}
}

// Write implies 200, as net/http has it. What is all of the body, by its
// Content-Length, goes out compressed if the client prefers that.
func (w *response) Write(b []byte) (int, error) {
	body := b
	if !w.sent && w.Header().Get("Content-Length") == strconv.Itoa(len(b)) {
		body = w.coded(b)
	}
	w.send()
	if n, err := w.ResponseWriter.Write(body); err != nil {
		return min(n, len(b)), err
	}
	return len(b), nil
}

// FlushError sends what there is; http.ResponseController calls it.
func (w *response) FlushError() error {
	w.send()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// send sends the header, once.
func (w *response) send() {
	if w.sent {
		return
	}
	w.sent = true
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.ResponseWriter.WriteHeader(w.status)
}

// end sends the header of an answer without a body.
func (w *response) end() {
	if w.status != 0 {
		w.send()
	}
}

// settle notes what the header is that every answer has.
func (w *response) settle() { w.before = w.Header().Clone() }

// revert takes back what was said since, unless it was sent.
func (w *response) revert() (ok bool) {
	if w.sent {
		return false
	}
	w.status = 0
	clear(w.Header())
	maps.Copy(w.Header(), w.before)
	return true
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
