package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"waypost/bench/fleet"
	"waypost/shared/feed"
)

// deaf is an origin's internal listener to which no acknowledgement gets through, be it one of its own or within a
// probe. All else does.
type deaf struct {
	proxy *httptest.Server
	to    atomic.Pointer[url.URL]
	shut  atomic.Bool // else it lets everything through
}

func newDeaf(t *testing.T) *deaf {
	t.Helper()
	d := &deaf{}
	transport := &http.Transport{}
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(d.to.Load()) }}
	d.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case d.to.Load() == nil, d.shut.Load() && r.URL.Path == "/v1/ack":
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case d.shut.Load() && r.URL.Path == "/v1/probe":
			if err := forget(r); err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		d.proxy.Close()
		transport.CloseIdleConnections()
	})
	return d
}

// forget takes out of a probe how far the edge is.
func forget(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	probe, err := feed.ParseProbe(body)
	if err != nil {
		return err
	}
	probe.Applied = [feed.AllShards]uint64{}
	body = probe.Append(nil)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// Its probes are answered, so it always holds a lease: a writer may be told that it has not acknowledged, but after that
// it must not answer with what was before.
func TestEdgeWhoseAcknowledgementsAreLostIsNotCountedAndNotStale(t *testing.T) {
	t.Parallel()
	lost := newDeaf(t)
	spec := fleet.Spec{Edges: []string{"eu"}, EdgeEnv: map[string]string{
		"WAYPOST_ORIGIN_URL":  lost.proxy.URL,
		"WAYPOST_NATS_PREFIX": "nobody", // no change and no probe goes by NATS
	}}
	f := prepare(t, watched(spec))
	to, err := url.Parse("http://" + f.Origins[0].Internal)
	if err != nil {
		t.Fatal(err)
	}
	lost.to.Store(to)
	f.Launch(t)
	api, e := f.API(t), f.Edges[0]
	joined(t, api, 1)
	l := api.MustCreate(t, fleet.Fields{"target": "https://example.com/0"})
	conn := e.Dial(t)
	read := func() {
		r, err := conn.Ask(fleet.Request{Path: l.Path()})
		if err == nil {
			err = leads(r, l.Target)
		}
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	read()
	lost.shut.Store(true)
	for i := range 3 {
		r := retarget(t, api, &l, fmt.Sprintf("https://example.com/lost/%d", i))
		if r.Acked != 0 || r.Took > bound+2*time.Second {
			t.Errorf("write %d: receipt %+v, want no edge acked, within %s", i, r, bound)
		}
		if i == 0 && (r.Edges != 1 || r.Took < bound*9/10) {
			t.Errorf("receipt %+v, want one edge, waited for until %s have passed", r, bound)
		}
		read()
	}
	lost.shut.Store(false)
	joined(t, api, 1)
	neverStale(t, f)
}
