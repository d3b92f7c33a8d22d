package positions

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/shared/feed"
)

// tap stands before an origin's internal listener, notes when it is asked for changes and told of acknowledgements, and
// can hold fills back. Safe for concurrent use.
type tap struct {
	server *httptest.Server
	origin atomic.Pointer[url.URL]

	mu      sync.Mutex
	fetches []fetch
	acks    []ack
	until   time.Time // no fill is passed on before it
}

// fetch asks for a shard's changes after a position.
type fetch struct {
	after feed.Position
	heard time.Time
}

// newTap listens until the test ends.
func newTap(t *testing.T) *tap {
	t.Helper()
	p := &tap{}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(p.origin.Load()) }}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.origin.Load() == nil || p.note(r, time.Now()) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.server.Close()
		transport.CloseIdleConnections()
	})
	return p
}

func (p *tap) addr() string { return p.server.Listener.Addr().String() }

// to says which origin the tap stands before.
func (p *tap) to(t *testing.T, addr string) {
	t.Helper()
	origin, err := url.Parse("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	p.origin.Store(origin)
}

// hold lets no fill pass for a time from now.
func (p *tap) hold(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(d)
}

// note takes what a request tells.
func (p *tap) note(r *http.Request, at time.Time) error {
	switch r.URL.Path {
	case "/v1/fill":
		return p.wait(r)
	case "/v1/changes":
		shard, err := strconv.Atoi(r.FormValue("shard"))
		if err != nil {
			return err
		}
		from, err := strconv.ParseUint(r.FormValue("from"), 10, 64)
		if err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.fetches = append(p.fetches, fetch{after: feed.Position{Shard: shard, Seq: from}, heard: at})
	case "/v1/ack":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		told, err := feed.ParseAck(body)
		if err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, position := range told.Positions {
			p.acks = append(p.acks, ack{Position: position, heard: at})
		}
	}
	return nil
}

// wait holds a fill.
func (p *tap) wait(r *http.Request) error {
	p.mu.Lock()
	left := time.Until(p.until)
	p.mu.Unlock()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// heard is all that was asked and told so far, in that order.
func (p *tap) heard() (fetches []fetch, acks []ack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches, p.acks
}
