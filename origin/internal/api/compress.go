package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"runtime"
	"strconv"
)

// minGzip is the shortest body worth compressing, in bytes: what fits in a packet
// arrives no sooner.
const minGzip = 1 << 10

// gzips are the compressors of an API, as many as can run at the same time: each
// has some 1.2 MB, which a flood of answers must not multiply. Nobody waits for
// a client while holding one.
type gzips chan *gzip.Writer

func newGzips() gzips {
	all := make(gzips, runtime.GOMAXPROCS(0))
	for range cap(all) {
		w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // fails only for levels that do not exist
		all <- w
	}
	return all
}

// compress returns b compressed.
func (all gzips) compress(b []byte) []byte {
	w := <-all
	defer func() { all <- w }()
	var out bytes.Buffer
	w.Reset(&out)
	_, _ = w.Write(b) // into memory
	_ = w.Close()
	w.Reset(io.Discard) // lets go of out
	return out.Bytes()
}

// coded returns the body as it is sent, and completes the header to match.
//
// An answer with an ETag is never compressed: the tag is a strong one, because
// If-Match takes it, so it must not name two different bodies.
func (w *response) coded(body []byte) []byte {
	h := w.Header()
	if !compressible(h.Get("Content-Type")) || h.Get("ETag") != "" || h.Get("Content-Encoding") != "" {
		return body
	}
	h.Add("Vary", "Accept-Encoding")
	if !w.accepts.gzipFor(len(body)) {
		return body
	}
	small := w.gzips.compress(body)
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(len(small)))
	return small
}

// compressible reports whether bodies of this type get smaller.
func compressible(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch media {
	case mediaJSON, mediaProblem, "text/html", "image/svg+xml":
		return true
	}
	return false
}
