package main

import (
	"net/http"
	"sync/atomic"
)

// gate is a handler that may not be there yet: until it is opened it answers
// 503, so that a client of an origin which waits for PostgreSQL hears to come
// back and not silence. It is safe for concurrent use.
type gate struct {
	handler atomic.Pointer[http.Handler]
}

func (g *gate) open(h http.Handler) { g.handler.Store(&h) }

// ServeHTTP passes the request on, once there is somebody to pass it to.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := g.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	const problem = `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"the store of links cannot be reached yet"}`
	_, _ = w.Write([]byte(problem + "\n")) // fails only if the client is gone
}
