package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
	"waypost/shared/settings"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Ends by itself some seconds after the last connection was closed.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*TCPDialer).tcpAddrsClean"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		// The server's pool of workers cleans up once more after its end.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// booted is an edge that runs inside the test, found by its log.
type booted struct {
	listen, ops string
	log         *log
	stop        context.CancelFunc
	ended       chan error
	once        sync.Once
}

// log is a writer that can be read meanwhile.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func boot(t *testing.T, env map[string]string) *booted {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	b := &booted{log: &log{}, stop: cancel, ended: make(chan error, 1)}
	settings := map[string]string{
		"WAYPOST_REGION": "eu", "WAYPOST_LISTEN": "127.0.0.1:0", "WAYPOST_OPS_LISTEN": "127.0.0.1:0", "WAYPOST_DRAIN": "0s",
	}
	maps.Copy(settings, env)
	go func() {
		b.ended <- run(ctx, nil, func(name string) string { return settings[name] }, io.Discard, b.log)
	}()
	up := regexp.MustCompile(`"listen":"([^"]+)","ops":"([^"]+)"`)
	eventually(t, b.log, func() bool {
		found := up.FindStringSubmatch(b.log.String())
		if found == nil {
			return false
		}
		b.listen, b.ops = "http://"+found[1], "http://"+found[2]
		return true
	})
	t.Cleanup(func() { b.end(t) })
	return b
}

// end stops the edge, once, and waits for it.
func (b *booted) end(t *testing.T) {
	t.Helper()
	b.once.Do(func() {
		b.stop()
		if err := <-b.ended; err != nil {
			t.Errorf("the edge ended with %v", err)
		}
	})
}

func eventually(t *testing.T, log *log, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("condition not met in time; the log:\n%s", log)
		}
	}
}

// fetch does not follow redirects.
func fetch(t *testing.T, url string) (status int, body string, header http.Header) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

// origin answers the internal listener's calls for one link.
func origin(t *testing.T) *httptest.Server {
	t.Helper()
	key := link.Key{Code: "abc"}
	books := &books{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/probe":
			heads := feed.Heads{Epoch: 1, Now: time.Now().UnixMicro(), Bound: time.Second.Microseconds()}
			_, _ = w.Write(heads.Append(nil))
		case "/v1/ack":
		case "/v1/config":
			_, _ = w.Write([]byte(`{"epoch":1,"seq":0,"rows":{}}`))
		case "/v1/fill":
			e := &feed.Entry{Epoch: 1, Key: link.Key{Code: r.URL.Query().Get("code")}}
			if e.Key == key {
				e.Body = feed.Body{State: feed.Enabled, Status: 302, Target: "https://example.com/"}
			}
			_, _ = w.Write(e.Append(nil))
		case "/v1/clicks":
			books.take(t, w, r)
		case "/v1/changes":
			_, _ = w.Write((&feed.Changes{Epoch: 1}).Append(nil))
		case "/v1/codes":
			_, _ = w.Write((&feed.Codes{Epoch: 1, Hashes: []uint64{key.Hash()}}).Append(nil))
		default:
			t.Errorf("asked for %s", r.URL)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

type readiness struct {
	Status string
	Parts  map[string]struct{ State, Reason string }
}

func ready(t *testing.T, b *booted) (int, readiness) {
	t.Helper()
	status, body, _ := fetch(t, b.ops+"/readyz")
	var r readiness
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return status, r
}

func TestBootsAndRedirects(t *testing.T) {
	b := boot(t, map[string]string{
		"WAYPOST_ORIGIN_URL": origin(t).URL, "WAYPOST_REDIS_URL": services.Redis(t).URL(), "WAYPOST_NATS_URL": services.NATS(t).URL(),
	})
	eventually(t, b.log, func() bool {
		status, r := ready(t, b)
		return status == 200 && r.Status == "ok"
	})
	status, _, header := fetch(t, b.listen+"/abc")
	if status != 302 || header.Get("Location") != "https://example.com/" {
		t.Errorf("got %d to %q", status, header.Get("Location"))
	}
	if status, _, _ := fetch(t, b.listen+"/nosuch"); status != 404 {
		t.Errorf("unknown code: got status %d, want 404", status)
	}
	_, metrics, _ := fetch(t, b.ops+"/metrics")
	for _, line := range []string{
		`waypost_edge_requests_total{status="302",tier="origin"} 1`, "waypost_edge_epoch 1", "waypost_edge_l2_lookups_total",
		`waypost_edge_filter_generation{shard="63"}`, `waypost_part_state{part="leases",state="ok"} 1`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}

func TestStartsWithoutRedisAndNATS(t *testing.T) {
	b := boot(t, map[string]string{
		"WAYPOST_ORIGIN_URL": origin(t).URL, "WAYPOST_REDIS_URL": "redis://127.0.0.1:1", "WAYPOST_NATS_URL": "nats://127.0.0.1:1",
	})
	eventually(t, b.log, func() bool {
		status, r := ready(t, b)
		return status == 200 && r.Status == "degraded" && r.Parts["config"].State == "ok" &&
			r.Parts["nats"].State == "down" && r.Parts["redis"].State == "down"
	})
	if status, _, _ := fetch(t, b.listen+"/abc"); status != 302 {
		t.Errorf("got status %d, want 302", status)
	}
}

func TestStartsWithoutAnOrigin(t *testing.T) {
	b := boot(t, map[string]string{
		"WAYPOST_ORIGIN_URL": "http://127.0.0.1:1", "WAYPOST_REDIS_URL": services.Redis(t).URL(), "WAYPOST_NATS_URL": "nats://127.0.0.1:1",
	})
	eventually(t, b.log, func() bool {
		status, r := ready(t, b)
		return status == 200 && r.Status == "degraded" && r.Parts["config"].State == "degraded" && r.Parts["origin"].State == "down"
	})
	status, _, header := fetch(t, b.listen+"/abc")
	if status != 503 || header.Get("Retry-After") == "" {
		t.Errorf("got status %d, Retry-After %q, want 503 with one", status, header.Get("Retry-After"))
	}
}

func TestEveryFaultOfTheSettingsIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"WAYPOST_REGION": "e u", "WAYPOST_LIMIT_MODE": "some", "WAYPOST_TLS_KEY": "k", "WAYPOST_L1_BYTES": "many", "WAYPOST_INTERNAL_SECRET": "hush",
		"WAYPOST_CLICKS": "some", "WAYPOST_CLICKS_SYNC": "always", "WAYPOST_CLICKS_DISK": "1KiB", "WAYPOST_COUNTRY_HEADER": "a b",
		"WAYPOST_REDIS_URL": "redis://:hush@host:port", "WAYPOST_NATS_URL": "nats://127.0.0.1:4222,nats://u:hush@host:port",
	}
	err := run(t.Context(), []string{"--no-such-flag"}, func(name string) string { return env[name] }, io.Discard, io.Discard)
	if _, ok := errors.AsType[*settings.FaultsError](err); !ok {
		t.Fatalf("got error %v, want faults", err)
	}
	for _, name := range []string{"WAYPOST_REGION", "WAYPOST_LIMIT_MODE", "WAYPOST_TLS_CERT", "WAYPOST_L1_BYTES", "WAYPOST_CLICKS", "WAYPOST_CLICKS_SYNC", "WAYPOST_CLICKS_DISK", "WAYPOST_COUNTRY_HEADER", "WAYPOST_REDIS_URL", "WAYPOST_NATS_URL", "no-such-flag"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("%q tells a secret", err)
	}
	if got := exitCode(err, io.Discard); got != 2 {
		t.Errorf("exit code: got %d, want 2", got)
	}
	if got := exitCode(errors.New("x"), io.Discard); got != 1 {
		t.Errorf("exit code of another error: got %d, want 1", got)
	}
}

func TestHelpNamesEverySettingAndItsDefault(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(t.Context(), []string{"--help"}, func(string) string { return "" }, &out, io.Discard)
	if exitCode(err, io.Discard) != 0 {
		t.Errorf("got error %v, want exit code 0", err)
	}
	for _, row := range settings.Table(&config{}) {
		if !strings.Contains(out.String(), row.Env) || !strings.Contains(out.String(), row.Default) {
			t.Errorf("--help lacks %s or its default %q", row.Env, row.Default)
		}
	}
}

func TestAPortInUseIsOneClearLine(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	env := map[string]string{"WAYPOST_LISTEN": strings.TrimPrefix(server.URL, "http://"), "WAYPOST_OPS_LISTEN": "127.0.0.1:0"}
	err := run(t.Context(), nil, func(name string) string { return env[name] }, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), env["WAYPOST_LISTEN"]) {
		t.Errorf("got error %v, want one that names %s", err, env["WAYPOST_LISTEN"])
	}
}
