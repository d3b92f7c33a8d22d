package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// large is a body worth compressing.
const large = 4 * minGzip

func answering(accept string) (*response, *httptest.ResponseRecorder) {
	rec := httptest.NewRecorder()
	w := newResponse(rec, parseCodings([]string{accept}), newGzips())
	w.Header().Set("X-Request-Id", "x")
	w.settle()
	return w, rec
}

func TestHeaderIsHeldUntilTheBody(t *testing.T) {
	t.Parallel()
	w, rec := answering("gzip")
	w.WriteHeader(http.StatusCreated)
	w.WriteHeader(http.StatusTeapot) // too late, as net/http has it
	if rec.Result().StatusCode != http.StatusOK || rec.Flushed || w.sent {
		t.Fatal("the header is sent before the body")
	}
	w.Header().Set("Content-Type", mediaJSON)
	if n, err := w.Write([]byte("{}")); n != 2 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if rec.Code != http.StatusCreated || rec.Body.String() != "{}" {
		t.Errorf("answer = %d %q, want 201 {}", rec.Code, rec.Body)
	}
}

func TestAnAnswerWithoutABodyIsSentAtTheEnd(t *testing.T) {
	t.Parallel()
	w, rec := answering("")
	w.WriteHeader(http.StatusNoContent)
	w.end()
	if rec.Code != http.StatusNoContent || w.status != http.StatusNoContent {
		t.Errorf("status = %d, want 204", rec.Code)
	}
	w, rec = answering("")
	w.end()
	if w.sent || w.status != 0 || rec.Body.Len() > 0 {
		t.Error("an answer is sent of which nothing was said")
	}
}

func TestAnAnswerThatWasNotSentCanBeTakenBack(t *testing.T) {
	t.Parallel()
	w, rec := answering("")
	w.Header().Set("ETag", `"1.2"`)
	w.Header().Set("Content-Length", "7")
	w.WriteHeader(http.StatusOK)
	if !w.revert() {
		t.Fatal("revert = false before anything was sent")
	}
	internal().write(w)
	if rec.Code != http.StatusInternalServerError || rec.Header().Get("ETag") != "" || rec.Header().Get("X-Request-Id") != "x" {
		t.Errorf("answer = %d %v, want a 500 with the headers of every answer only", rec.Code, rec.Header())
	}
	if w.revert() {
		t.Error("revert = true after it was sent")
	}
}

func TestOnlyWholeBodiesAreCompressed(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", large)
	for name, c := range map[string]struct {
		change func(http.Header)
		zipped bool
	}{
		"a whole one":        {func(http.Header) {}, true},
		"of unknown length":  {func(h http.Header) { h.Del("Content-Length") }, false},
		"the first half":     {func(h http.Header) { h.Set("Content-Length", "8192") }, false},
		"of another type":    {func(h http.Header) { h.Set("Content-Type", "image/png") }, false},
		"of events":          {func(h http.Header) { h.Set("Content-Type", mediaEvents) }, false},
		"of no type":         {func(h http.Header) { h.Del("Content-Type") }, false},
		"with a tag":         {func(h http.Header) { h.Set("ETag", `"1.2"`) }, false},
		"that is compressed": {func(h http.Header) { h.Set("Content-Encoding", "br") }, false},
		"a page":             {func(h http.Header) { h.Set("Content-Type", "text/html; charset=utf-8") }, true},
		"a problem":          {func(h http.Header) { h.Set("Content-Type", mediaProblem) }, true},
	} {
		w, rec := answering("gzip")
		w.Header().Set("Content-Type", mediaJSON)
		w.Header().Set("Content-Length", "4096")
		c.change(w.Header())
		if n, err := w.Write([]byte(text)); n != large || err != nil {
			t.Errorf("%s: Write = %d, %v, want all of what was given", name, n, err)
		}
		if got := rec.Header().Get("Content-Encoding") == "gzip"; got != c.zipped || got == (rec.Body.Len() >= large) {
			t.Errorf("%s: compressed %v, want %v; %d bytes", name, got, c.zipped, rec.Body.Len())
		}
	}
}

func TestFlushSendsTheHeader(t *testing.T) {
	t.Parallel()
	w, rec := answering("gzip")
	w.Header().Set("Content-Type", mediaEvents)
	w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(w).Flush(); err != nil {
		t.Fatal(err)
	}
	if !rec.Flushed || !w.sent {
		t.Error("the header is held back")
	}
	_, _ = w.Write([]byte(strings.Repeat("a", large)))
	if rec.Body.Len() != large {
		t.Errorf("%d bytes, want what was written", rec.Body.Len())
	}
}
