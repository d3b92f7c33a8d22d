package httpd

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// target takes a request's target apart without decoding anything: host as
// sent, path up to "?", query after it. An absolute-form request line names its
// host itself and wins over the Host header (RFC 9112 §3.2.2).
func target(header *fasthttp.RequestHeader) (host, path, query []byte) {
	host, path = header.Host(), header.RequestURI()
	if len(path) > 0 && path[0] != '/' {
		if h, p, ok := absolute(path); ok {
			host, path = h, p
		}
	}
	path, query, _ = bytes.Cut(path, []byte{'?'})
	if len(path) == 0 {
		path = []byte{'/'}
	}
	return host, path, query
}

// absolute splits "http://host/path"; the path may be empty.
func absolute(uri []byte) (host, path []byte, ok bool) {
	scheme, rest, ok := bytes.Cut(uri, []byte("://"))
	if !ok || !bytes.EqualFold(scheme, []byte("http")) && !bytes.EqualFold(scheme, []byte("https")) {
		return nil, nil, false
	}
	end := bytes.IndexAny(rest, "/?")
	if end < 0 {
		return rest, nil, true
	}
	return rest[:end], rest[end:], true
}
