package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(m)) }

// nowhere is an address on which nobody listens: port 1 is privileged and
// unassigned in practice.
const nowhere = "127.0.0.1:1"

// output is what a running origin writes; it may be read meanwhile.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// running is an origin under test.
type running struct {
	t                     *testing.T
	public, internal, ops string
	keyFile               string
	stderr                *output
	stop                  func() error // ends it as SIGTERM would; nil again and again
}

// start runs an origin on free ports. env wins over what is set here.
func start(t *testing.T, env map[string]string) *running {
	t.Helper()
	o := &running{t: t, keyFile: filepath.Join(t.TempDir(), "admin.key"), stderr: &output{}}
	all := map[string]string{
		"WAYPOST_LISTEN": "127.0.0.1:0", "WAYPOST_INTERNAL_LISTEN": "127.0.0.1:0", "WAYPOST_OPS_LISTEN": "127.0.0.1:0",
		"WAYPOST_INTERNAL_SECRET": "secret", "WAYPOST_ADMIN_KEY_FILE": o.keyFile, "WAYPOST_DRAIN": "0s",
		"WAYPOST_REDIS_URL": "redis://" + nowhere, "WAYPOST_NATS_URL": "nats://" + nowhere,
	}
	maps.Copy(all, env)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve"}, func(name string) string { return all[name] }, io.Discard, o.stderr)
	}()
	o.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := o.stop(); err != nil {
			t.Errorf("run: %v\n%s", err, o.stderr)
		}
	})
	o.await("the log to tell the addresses", func() bool {
		for line := range strings.Lines(o.stderr.String()) {
			var entry struct{ Msg, Listen, Internal, Ops string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "origin is up" {
				o.public, o.internal, o.ops = "http://"+entry.Listen, "http://"+entry.Internal, "http://"+entry.Ops
				return true
			}
		}
		return false
	})
	return o
}

// await polls until the condition holds.
func (o *running) await(what string, holds func() bool) {
	o.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			o.t.Fatalf("waited in vain for %s\n%s", what, o.stderr)
		}
	}
}

// call answers status and body; the status is 0 where there is no answer.
func (o *running) call(method, url, body, bearer string) (status int, answer []byte) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	resp, err := client.Do(r)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}

func (o *running) ready() (status int, body string) {
	status, b := o.call("GET", o.ops+"/readyz", "", "")
	return status, string(b)
}

func (o *running) awaitReady() {
	o.t.Helper()
	o.await("readiness", func() bool { status, _ := o.ready(); return status == 200 })
}

func (o *running) adminKey() string {
	o.t.Helper()
	b, err := os.ReadFile(o.keyFile)
	if err != nil {
		o.t.Fatalf("admin key: %v", err)
	}
	return strings.TrimSpace(string(b))
}

const someLink = `{"target": "https://example.com/", "alias": "hello", "domain": "go.example.com"}`

func TestOriginServesOnRealServices(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	o := start(t, map[string]string{
		"WAYPOST_DATABASE_URL": services.Postgres(t), "WAYPOST_REDIS_URL": services.Redis(t).URL(), "WAYPOST_NATS_URL": n.URL(),
		"WAYPOST_DOMAINS": "go.example.com, Short.Example.",
	})
	o.await("all parts to be ok", func() bool { _, body := o.ready(); return strings.Contains(body, `"status":"ok"`) })
	if status, body := o.call("POST", o.public+"/api/v1/links", someLink, o.adminKey()); status != 201 {
		t.Fatalf("create: %d %s", status, body)
	}
	status, body := o.call("GET", o.internal+"/v1/fill?domain=go.example.com&code=hello&epoch=1&min=0", "", "secret")
	if e, err := feed.ParseEntry(body); status != 200 || err != nil || e.Target != "https://example.com/" {
		t.Errorf("fill: %d, %+v, %v", status, e, err)
	}
	status, body = o.call("GET", o.internal+"/v1/config", "", "secret")
	if cfg, err := feed.ParseConfig(body); status != 200 || err != nil || cfg.Len() != 2 {
		t.Errorf("config: %d %s %v, want both domains", status, body, err)
	}
	if status, _ := o.call("GET", o.internal+"/v1/config", "", "wrong"); status != 401 {
		t.Errorf("config with a wrong secret: %d, want 401", status)
	}
	if status, body := o.call("GET", o.public+"/docs", "", ""); status != 200 || !bytes.Contains(body, []byte("Create a link")) {
		t.Errorf("docs: %d", status)
	}
	_, body = o.call("GET", o.ops+"/metrics", "", "")
	for _, want := range []string{
		`waypost_api_requests_total{class="2xx",route="POST /api/v1/links"} 1`, `waypost_fills_total{outcome="loaded"} 1`,
		`waypost_link_reads_total 1`, `waypost_changes_total{outcome="published"}`, `waypost_part_state{part="nats",state="ok"} 1`,
	} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if err := run(t.Context(), []string{"healthcheck"}, one("WAYPOST_OPS_LISTEN", strings.TrimPrefix(o.ops, "http://")), io.Discard, io.Discard); err != nil {
		t.Errorf("healthcheck: %v", err)
	}
	if err := o.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if strings.Contains(o.stderr.String(), `"level":"ERROR"`) {
		t.Errorf("faults were logged:\n%s", o.stderr)
	}
}

func TestOriginServesWithoutRedisAndNATS(t *testing.T) {
	t.Parallel()
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": services.Postgres(t), "WAYPOST_DOMAINS": "go.example.com"})
	o.awaitReady()
	if _, body := o.ready(); !strings.Contains(body, `"status":"degraded"`) {
		t.Errorf("readyz = %s, want degraded", body)
	}
	if status, body := o.call("POST", o.public+"/api/v1/links", someLink, o.adminKey()); status != 201 {
		t.Errorf("create: %d %s", status, body)
	}
	if status, body := o.call("GET", o.internal+"/v1/fill?domain=go.example.com&code=hello&epoch=1&min=0", "", "secret"); status != 200 {
		t.Errorf("fill: %d %s", status, body)
	}
}

func TestOriginWaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": pg.URL(), "WAYPOST_DOMAINS": "go.example.com"})
	for _, url := range []string{o.public + "/api/v1/links", o.internal + "/v1/heads"} {
		if status, body := o.call("GET", url, "", "secret"); status != 503 {
			t.Errorf("%s: %d %s, want 503", url, status, body)
		}
	}
	if status, body := o.ready(); status != 503 || !strings.Contains(body, "postgres") {
		t.Errorf("readyz: %d %s, want 503", status, body)
	}
	if err := pg.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.awaitReady()
	if status, body := o.call("POST", o.public+"/api/v1/links", someLink, o.adminKey()); status != 201 {
		t.Errorf("create: %d %s", status, body)
	}
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.await("readyz to see that PostgreSQL is gone", func() bool { status, _ := o.ready(); return status == 503 })
	if status, body := o.call("GET", o.public+"/api/v1/links", "", o.adminKey()); status != 503 {
		t.Errorf("list without PostgreSQL: %d %s", status, body)
	}
	if err := pg.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.awaitReady()
	if status, body := o.call("GET", o.public+"/api/v1/links/hello?domain=go.example.com", "", o.adminKey()); status != 200 {
		t.Errorf("link after the outage: %d %s", status, body)
	}
	if n := strings.Count(o.stderr.String(), `"part":"postgres"`); n > 6 {
		t.Errorf("%d lines about PostgreSQL, want one a change of state:\n%s", n, o.stderr)
	}
}

func TestOriginStopsWhileItWaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": "postgres://u:hidden@" + nowhere + "/d"})
	if err := o.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if strings.Contains(o.stderr.String(), "hidden") {
		t.Errorf("the log shows the password:\n%s", o.stderr)
	}
}

func TestAcceptedRequestIsAnsweredWhileOriginStops(t *testing.T) {
	t.Parallel()
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": services.Postgres(t), "WAYPOST_DOMAINS": "go.example.com"})
	o.awaitReady()
	body, send := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", o.public+"/api/v1/links", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.adminKey())
	r.Header.Set("Expect", "100-continue") // the body is asked for once the request is in hand
	answered := make(chan int, 1)
	go func() {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}}
		resp, err := client.Do(r)
		if err != nil {
			answered <- 0
			return
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}()
	if _, err := send.Write([]byte(someLink[:10])); err != nil { // returns once the body is asked for
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- o.stop() }()
	o.await("the listener to be closed", func() bool {
		status, _ := o.call("GET", o.public+"/docs", "", "")
		return status == 0
	})
	_, _ = send.Write([]byte(someLink[10:]))
	_ = send.Close()
	if status := <-answered; status != 201 {
		t.Errorf("status %d, want 201", status)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestOriginsThatStartTogetherMakeOneAdminKey(t *testing.T) {
	t.Parallel()
	database := services.Postgres(t)
	first := start(t, map[string]string{"WAYPOST_DATABASE_URL": database})
	second := start(t, map[string]string{"WAYPOST_DATABASE_URL": database})
	first.awaitReady()
	second.awaitReady()
	_, err1 := os.Stat(first.keyFile)
	_, err2 := os.Stat(second.keyFile)
	if (err1 == nil) == (err2 == nil) {
		t.Errorf("key files: %v and %v, want one", err1, err2)
	}
}

func TestPortInUseIsOneError(t *testing.T) {
	t.Parallel()
	o := start(t, map[string]string{"WAYPOST_DATABASE_URL": "postgres://" + nowhere + "/d"})
	env := map[string]string{
		"WAYPOST_DATABASE_URL": "postgres://" + nowhere + "/d", "WAYPOST_OPS_LISTEN": "127.0.0.1:0",
		"WAYPOST_LISTEN": strings.TrimPrefix(o.public, "http://"), "WAYPOST_INTERNAL_LISTEN": "127.0.0.1:0",
	}
	err := run(t.Context(), nil, func(name string) string { return env[name] }, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "public listener") || exitCode(err, io.Discard) != 1 {
		t.Errorf("run = %v, want an error that names the listener, exit 1", err)
	}
}

// one is an environment of one variable.
func one(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	}
}

func TestBadConfigurationListsEveryFault(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"WAYPOST_INTERNAL_LISTEN": "0.0.0.0:9001", "WAYPOST_PUBLIC_URL": "https://example.com/path", "WAYPOST_DOMAINS": "good.example,bad_host:80",
		"WAYPOST_STAMPEDE_WAIT": "soon", "WAYPOST_STALE_BOUND": "299ms", "WAYPOST_LOG_LEVEL": "loud",
	}
	err := run(t.Context(), []string{"--nonsense=1"}, func(name string) string { return env[name] }, io.Discard, io.Discard)
	if _, ok := errors.AsType[*settings.FaultsError](err); !ok {
		t.Fatalf("run = %v, want faults", err)
	}
	for _, name := range []string{
		"WAYPOST_INTERNAL_SECRET", "WAYPOST_PUBLIC_URL", "WAYPOST_DOMAINS", "WAYPOST_STAMPEDE_WAIT", "WAYPOST_STALE_BOUND", "WAYPOST_LOG_LEVEL", "WAYPOST_DATABASE_URL", "--nonsense",
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("faults lack %s: %v", name, err)
		}
	}
	if code := exitCode(err, io.Discard); code != 2 {
		t.Errorf("exit code = %d, want 2", code)
	}
}

func TestHelpAndUnknownCommands(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"serve", "-h"}, {"migrate", "--help"}, {"key", "create", "--help"}, {"epoch", "bump", "--help"}, {"healthcheck", "--help"}} {
		var stdout bytes.Buffer
		err := run(t.Context(), args, one("", ""), &stdout, io.Discard)
		if exitCode(err, io.Discard) != 0 || !strings.Contains(stdout.String(), "usage: waypost-origin") {
			t.Errorf("%v: %v, %q", args, err, stdout.String())
		}
	}
	for _, args := range [][]string{{"dance"}, {"epoch"}, {"epoch", "drop"}, {"epoch", "bump", "2"}, {"key"}, {"key", "eat"}, {"serve", "now"}, {"key", "revoke"}} {
		err := run(t.Context(), args, one("WAYPOST_DATABASE_URL", "postgres://"+nowhere+"/d"), io.Discard, io.Discard)
		if code := exitCode(err, io.Discard); code != 2 {
			t.Errorf("%v: exit code %d (%v), want 2", args, code, err)
		}
	}
}
