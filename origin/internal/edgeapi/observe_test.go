package edgeapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestRequestsAreCountedByRouteAndClassOfStatus(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	f := &fake{
		t:      t,
		heads:  func(context.Context) (*feed.Heads, error) { return &feed.Heads{}, nil },
		config: func(context.Context) (*feed.Config, error) { panic("boom") },
		load: func(context.Context, link.Key, uint64, uint64) (*feed.Entry, error) {
			return nil, link.ErrUnavailable
		},
	}
	h := New(Config{Secret: secret, Logger: slog.New(slog.DiscardHandler), Metrics: reg}, f.rooms())
	for _, target := range []string{
		"/v1/heads", "/v1/heads", "/v1/config", "/v1/fill?code=secret-code&epoch=1&min=1", "/v1/fill", "/v1/other-path",
	} {
		get(t, h, target)
	}
	unknown := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/heads", nil)
	h.ServeHTTP(httptest.NewRecorder(), unknown)
	const want = `
		# HELP waypost_internal_requests_total Requests of edges by route and class of status.
		# TYPE waypost_internal_requests_total counter
		waypost_internal_requests_total{class="2xx",route="GET /v1/heads"} 2
		waypost_internal_requests_total{class="4xx",route="GET /v1/fill"} 1
		waypost_internal_requests_total{class="4xx",route="GET /v1/heads"} 1
		waypost_internal_requests_total{class="4xx",route="none"} 1
		waypost_internal_requests_total{class="5xx",route="GET /v1/config"} 1
		waypost_internal_requests_total{class="5xx",route="GET /v1/fill"} 1
	`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "waypost_internal_requests_total"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(reg, "waypost_internal_request_seconds"); err != nil || n != 4 {
		t.Errorf("%d series of latency, %v, want one for each of 4 routes", n, err)
	}
}

func TestFaultsAreLoggedWithTheRequestsID(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(context.Context) (*feed.Config, error){
		"panic": func(context.Context) (*feed.Config, error) { panic("boom") },
		"fault": func(context.Context) (*feed.Config, error) { return nil, errors.New("boom") },
	} {
		for sent, kept := range map[string]bool{"the-id.1": true, "": false, "not fit": false} {
			var log bytes.Buffer
			h := newHandler(&fake{t: t, config: config}, Config{}, &log)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/config", nil)
			r.Header.Set("Authorization", "Bearer "+secret)
			r.Header.Set("X-Request-Id", sent)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			id := w.Header().Get("X-Request-Id")
			if id == "" || (id == sent) != kept || !strings.Contains(log.String(), "request_id="+id+" ") {
				t.Errorf("%s with id %q: id %q, log %q", name, sent, id, &log)
			}
		}
	}
}
