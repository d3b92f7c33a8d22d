package ops_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"waypost/shared/ops"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.FixedZone("", 3600))

// clock is moved by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// lines is a log that tests read back.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) records(t *testing.T) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []map[string]any
	for dec := json.NewDecoder(bytes.NewReader(l.buf.Bytes())); ; {
		var record map[string]any
		err := dec.Decode(&record)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("log: %v", err)
		}
		all = append(all, record)
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// get asks a Server built from health, without a socket.
func get(t *testing.T, health *ops.Health, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	handler := ops.Routes(health, ops.NewRegistry(health))
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestReadyzSumsPartsUp(t *testing.T) {
	t.Parallel()
	ok := func(p *ops.Part) { p.OK() }
	degraded := func(p *ops.Part) { p.Degraded("slow") }
	down := func(p *ops.Part) { p.Down("gone") }
	silent := func(*ops.Part) {}
	tests := []struct {
		name               string
		required, optional func(*ops.Part)
		drain              bool
		code               int
		status             string
	}{
		{name: "all ok", required: ok, optional: ok, code: 200, status: "ok"},
		{name: "required degraded", required: degraded, optional: ok, code: 200, status: "degraded"},
		{name: "required down", required: down, optional: ok, code: 503, status: "unready"},
		{name: "required silent since start", required: silent, optional: ok, code: 503, status: "unready"},
		{name: "optional degraded", required: ok, optional: degraded, code: 200, status: "degraded"},
		{name: "optional down", required: ok, optional: down, code: 200, status: "degraded"},
		{name: "optional silent since start", required: ok, optional: silent, code: 200, status: "degraded"},
		{name: "draining", required: ok, optional: ok, drain: true, code: 503, status: "unready"},
		{name: "draining and degraded", required: degraded, optional: down, drain: true, code: 503, status: "unready"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			health := ops.NewHealth(discard(), time.Now)
			tt.required(health.Part("config", true))
			tt.optional(health.Part("redis", false))
			if tt.drain {
				health.Drain()
			}
			w := get(t, health, "/readyz")
			var body struct {
				Status   string
				Draining bool
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Fatalf("body %q: %v", w.Body, err)
			}
			if w.Code != tt.code || body.Status != tt.status || body.Draining != tt.drain {
				t.Errorf("/readyz = %d %+v, want %d %q draining %v", w.Code, body, tt.code, tt.status, tt.drain)
			}
		})
	}
}

func TestReadyzTellsEachPartsStateAndSinceWhen(t *testing.T) {
	t.Parallel()
	clock := &clock{at: start}
	health := ops.NewHealth(discard(), clock.now)
	redis, nats := health.Part("redis", false), health.Part("nats", true)
	clock.advance(10 * time.Second)
	redis.OK()
	nats.OK()
	clock.advance(10 * time.Second)
	redis.Down("dial redis://user:p@ss@10.0.0.1:6379: refused")
	nats.OK()
	clock.advance(10 * time.Second)
	redis.Down("i/o timeout of redis://user:p@ss@10.0.0.1:6379")
	w := get(t, health, "/readyz")
	want := `{"status":"degraded","draining":false,"parts":{` +
		`"nats":{"state":"ok","required":true,"since":"2026-03-01T11:00:10Z"},` +
		`"redis":{"state":"down","required":false,"since":"2026-03-01T11:00:20Z","reason":"i/o timeout of redis://10.0.0.1:6379"}}}` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("/readyz\n got %s\nwant %s", got, want)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type = %q, want application/json", got)
	}
}

func TestPartLogsOneLineAChangeOfState(t *testing.T) {
	t.Parallel()
	var log lines
	health := ops.NewHealth(ops.NewLogger(&log, "edge", "info"), time.Now)
	redis := health.Part("redis", false)
	redis.OK()
	redis.OK()
	redis.Down("port 1 of nats://u:secret@h")
	redis.Down("port 2")
	redis.Degraded("slow")
	redis.OK()
	var got []string
	for _, r := range log.records(t) {
		got = append(got, fmt.Sprint(r["level"], " ", r["msg"], " ", r["service"], " ", r["part"], " ", r["state"], " ", r["reason"]))
	}
	want := []string{
		"INFO part changed edge redis ok ",
		"WARN part changed edge redis down port 1 of nats://h",
		"WARN part changed edge redis degraded slow",
		"INFO part changed edge redis ok ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("log\n got %q\nwant %q", got, want)
	}
}

func TestPartBoundsItsReason(t *testing.T) {
	t.Parallel()
	health := ops.NewHealth(discard(), time.Now)
	health.Part("redis", false).Down(strings.Repeat("é", 5000))
	w := get(t, health, "/readyz")
	if w.Body.Len() > 600 || !json.Valid(w.Body.Bytes()) {
		t.Errorf("/readyz has %d bytes, valid %v, want a short valid body", w.Body.Len(), json.Valid(w.Body.Bytes()))
	}
}

func TestPartReportingWhatIsKnownDoesNotAllocate(t *testing.T) {
	part := ops.NewHealth(discard(), time.Now).Part("redis", false)
	for name, report := range map[string]func(){"ok": part.OK, "down": func() { part.Down("gone") }} {
		report()
		if got := testing.AllocsPerRun(100, report); got != 0 {
			t.Errorf("reporting %s again allocates %v times, want 0", name, got)
		}
	}
}

func TestPartKeepsOneLineAChangeUnderConcurrentReports(t *testing.T) {
	t.Parallel()
	var log lines
	health := ops.NewHealth(ops.NewLogger(&log, "edge", "info"), time.Now)
	redis := health.Part("redis", false)
	var reporters sync.WaitGroup
	for i := range 8 {
		reporters.Go(func() {
			for j := range 100 {
				redis.Degraded(fmt.Sprint(i, " ", j))
			}
		})
	}
	reporters.Wait()
	if got := len(log.records(t)); got != 1 {
		t.Errorf("log has %d lines, want 1 for the one change of state", got)
	}
}
