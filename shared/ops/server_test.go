package ops_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/shared/ops"
)

// client keeps no connection, so that no goroutine outlives a test.
func client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// run listens and serves until stop is called, which returns what Run did.
func run(t *testing.T, server *ops.Server) (stop func() error) {
	t.Helper()
	if err := server.Listen(t.Context()); err != nil {
		t.Fatalf("Listen: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	stopped := false
	stop = func() error {
		cancel()
		stopped = true
		return <-ended
	}
	t.Cleanup(func() {
		if !stopped {
			if err := stop(); err != nil {
				t.Errorf("Run: %v", err)
			}
		}
	})
	return stop
}

func newServer(addr string) (*ops.Server, *ops.Health) {
	health := ops.NewHealth(discard(), time.Now)
	return ops.New(addr, health, ops.NewRegistry(health), discard()), health
}

// fetch returns status and body of a GET.
func fetch(t *testing.T, url string) (int, []byte) {
	t.Helper()
	response, err := client(t).Get(url)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("body of %s: %v", url, err)
	}
	return response.StatusCode, body
}

func TestServerServesItsRoutesOnAFreePort(t *testing.T) {
	t.Parallel()
	server, health := newServer("127.0.0.1:0")
	health.Part("redis", false).OK()
	stop := run(t, server)
	for path, want := range map[string]string{
		"/healthz":                       "ok\n",
		"/readyz":                        `"status":"ok"`,
		"/metrics":                       "go_goroutines ",
		"/debug/pprof/":                  "Types of profiles available",
		"/debug/pprof/goroutine?debug=1": "goroutine profile: total",
		"/debug/pprof/cmdline":           "ops.test",
		"/debug/pprof/symbol":            "num_symbols: 1",
	} {
		if code, body := fetch(t, "http://"+server.Addr()+path); code != http.StatusOK || !bytes.Contains(body, []byte(want)) {
			t.Errorf("GET %s = %d %.200q, want 200 with %q", path, code, body, want)
		}
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil after its context ended", err)
	}
	if conn, err := net.Dial("tcp", server.Addr()); err == nil {
		_ = conn.Close()
		t.Error("the address still accepts after Run returned")
	}
}

func TestServerRefusesOtherPathsAndMethods(t *testing.T) {
	t.Parallel()
	health := ops.NewHealth(discard(), time.Now)
	handler := ops.Routes(health, ops.NewRegistry(health))
	tests := []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/", http.StatusNotFound},
		{http.MethodHead, "/healthz", http.StatusOK},
		{http.MethodPost, "/healthz", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/metrics", http.StatusMethodNotAllowed},
		{http.MethodGet, "/debug/pprof/unknown", http.StatusNotFound},
		{http.MethodGet, "/debug/pprof/profile?seconds=301", http.StatusBadRequest},
		{http.MethodGet, "/debug/pprof/profile?seconds=-1", http.StatusBadRequest},
		{http.MethodGet, "/debug/pprof/trace?seconds=NaN", http.StatusBadRequest},
		{http.MethodGet, "/debug/pprof/heap?seconds=x", http.StatusBadRequest},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.want {
			t.Errorf("%s %s = %d, want %d", tt.method, tt.path, w.Code, tt.want)
		}
	}
}

func TestMetricsTellPartsDrainingBuildAndProcess(t *testing.T) {
	t.Parallel()
	health := ops.NewHealth(discard(), time.Now)
	health.Part("redis", false).Degraded("slow")
	health.Drain()
	body := get(t, health, "/metrics").Body.String()
	for _, want := range []string{
		"\nwaypost_part_state{part=\"redis\",state=\"ok\"} 0\n",
		"\nwaypost_part_state{part=\"redis\",state=\"degraded\"} 1\n",
		"\nwaypost_part_state{part=\"redis\",state=\"down\"} 0\n",
		"\nwaypost_draining 1\n",
		"\ngo_build_info{",
		"\nprocess_open_fds ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %q", want)
		}
	}
}

func TestMetricsOutliveABrokenCollector(t *testing.T) {
	t.Parallel()
	health := ops.NewHealth(discard(), time.Now)
	reg := ops.NewRegistry(health)
	reg.MustRegister(broken{prometheus.NewDesc("waypost_broken", "Always broken.", nil, nil)})
	w := httptest.NewRecorder()
	ops.Routes(health, reg).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "go_goroutines ") {
		t.Errorf("/metrics = %d, want 200 with the metrics that work", w.Code)
	}
}

type broken struct{ desc *prometheus.Desc }

func (b broken) Describe(ch chan<- *prometheus.Desc) { ch <- b.desc }

func (b broken) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(b.desc, errors.New("broken"))
}

func TestServerReportsAPortInUseAtListen(t *testing.T) {
	t.Parallel()
	first, _ := newServer("127.0.0.1:0")
	run(t, first)
	second, _ := newServer(first.Addr())
	if err := second.Listen(t.Context()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("Listen = %v, want address in use", err)
	}
}

func TestServerDoesNotRunWithoutListener(t *testing.T) {
	t.Parallel()
	server, _ := newServer("127.0.0.1:0")
	if err := server.Run(t.Context()); err == nil {
		t.Error("Run before Listen = nil, want an error")
	}
}

func TestServerTimeoutsDoNotCutAProfile(t *testing.T) {
	t.Parallel()
	server, _ := newServer("127.0.0.1:0")
	server = server.WithTimeouts(400 * time.Millisecond)
	run(t, server)
	// The read and write timeouts pass twice before the second is over.
	asked := time.Now()
	code, body := fetch(t, "http://"+server.Addr()+"/debug/pprof/profile?seconds=1")
	took := time.Since(asked)
	if code != http.StatusOK {
		t.Fatalf("profile = %d %.200q, want 200", code, body)
	}
	if _, err := gzip.NewReader(bytes.NewReader(body)); err != nil {
		t.Errorf("profile is no gzip stream: %v", err)
	}
	if took < time.Second {
		t.Errorf("profile covers %v, want the second asked for", took)
	}
}

func TestServerStopEndsAProfileBeingTaken(t *testing.T) {
	t.Parallel()
	server, _ := newServer("127.0.0.1:0")
	stop := run(t, server)
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /debug/pprof/trace?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// The first bytes of the answer show that the trace has begun.
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

func TestServerLimitsRequestHeads(t *testing.T) {
	t.Parallel()
	server, _ := newServer("127.0.0.1:0")
	run(t, server)
	request, err := http.NewRequest(http.MethodGet, "http://"+server.Addr()+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Long", strings.Repeat("x", 64<<10))
	response, err := client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status = %d, want 431", response.StatusCode)
	}
}
