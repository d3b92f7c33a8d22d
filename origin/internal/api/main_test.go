package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"waypost/deploy/services"
	"waypost/origin/internal/api"
	"waypost/origin/internal/clicks"
	"waypost/origin/internal/codes"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(services.Main(m)) }

// domain is registered in every test.
const domain = "go.example.com"

// server is an API on a database of its own, called without a socket.
type server struct {
	t         *testing.T
	api       *api.API
	config    api.Config // that it was made with
	keys      *links.Keys
	store     *postgres.Store
	views     *clicks.Views
	admin     string // a key
	published *published
	barrier   *barrier
	log       *strings.Builder
}

// barrier answers at once for edges that are not there, and notes what a write
// would have waited for.
type barrier struct {
	mu    sync.Mutex
	waits [][]links.Position
}

func (b *barrier) Wait(_ context.Context, _ time.Time, positions []links.Position) links.Receipt {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = append(b.waits, positions)
	return links.Receipt{Ack: links.AckEdges, Edges: 3, Acked: 2}
}

func (b *barrier) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waits)
}

// published keeps what would go to edges.
type published struct {
	mu      sync.Mutex
	changes []*feed.Change
}

func (p *published) Publish(changes []*feed.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes = append(p.changes, changes...)
}

func (p *published) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.changes)
}

func newServer(t *testing.T) *server {
	t.Helper()
	return serverOn(t, services.Postgres(t))
}

func serverOn(t *testing.T, databaseURL string) *server {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Config{URL: databaseURL, MaxConns: 10})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(store.Close)
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	if _, err := store.WriteConfig(t.Context(), []links.ConfigMutation{{
		Row: feed.DomainRow(domain), Merge: func(*links.ConfigRow, time.Time) (string, error) { return `{"host":"` + domain + `"}`, nil },
	}}); err != nil {
		t.Fatalf("WriteConfig: %v", err)
	}
	s := &server{t: t, keys: links.NewKeys(store, time.Now), store: store, views: clicks.NewViews(clicks.MaxViews), published: &published{}, barrier: &barrier{}, log: &strings.Builder{}}
	logger := slog.New(slog.NewJSONHandler(&lockedWriter{w: s.log}, nil))
	snowflake := codes.NewSnowflake(store, codes.SnowflakeConfig{
		Holder: t.Name(), Machine: codes.AnyMachine, Now: time.Now, Logger: logger,
	})
	hold(t, snowflake)
	service := links.New(links.Deps{
		Store: store, Purges: store, Config: store, Known: store, Records: store, Codes: codes.New(snowflake, codes.NewCounter(store)),
		Publisher: s.published, Barrier: s.barrier, PublicHost: "wp.example",
	})
	s.config = api.Config{
		Links: service, Keys: s.keys, Clicks: clicks.New(store, service, time.Now), Views: s.views, Logger: logger, Metrics: prometheus.NewRegistry(),
		Public: &url.URL{Scheme: "https", Host: "wp.example"}, Version: "test", Now: time.Now,
	}
	if s.api, err = api.New(s.config); err != nil {
		t.Fatalf("New: %v", err)
	}
	s.admin = links.NewKeyText()
	if made, err := s.keys.First(t.Context(), s.admin); err != nil || !made {
		t.Fatalf("First = %v, %v", made, err)
	}
	return s
}

// hold runs the generator for as long as the test does and waits for its lease.
func hold(t *testing.T, snowflake *codes.Snowflake) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- snowflake.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("snowflake: %v", err)
		}
	})
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := snowflake.Next(t.Context())
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("no lease: %v", err)
		}
	}
}

type lockedWriter struct {
	mu sync.Mutex
	w  *strings.Builder
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// key makes a key with these scopes, confined to owner.
func (s *server) key(owner string, scopes ...string) string {
	s.t.Helper()
	_, text, err := s.keys.Make(s.t.Context(), &links.KeyInput{Owner: links.Value(owner), Scopes: links.Value(scopes)})
	if err != nil {
		s.t.Fatalf("Make key: %v", err)
	}
	return text
}

// rebuild makes the API anew with other settings, on the same rooms.
func (s *server) rebuild(change func(*api.Config)) {
	s.t.Helper()
	c := s.config
	c.Metrics = prometheus.NewRegistry()
	change(&c)
	remade, err := api.New(c)
	if err != nil {
		s.t.Fatalf("New: %v", err)
	}
	s.api = remade
}

// link makes a link and returns its id.
func (s *server) link(alias, owner string) uint64 {
	s.t.Helper()
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "`+alias+`", "owner": "`+owner+`"}`)
	l, err := s.store.Link(s.t.Context(), link.Key{Code: alias})
	if err != nil {
		s.t.Fatalf("Link %s: %v", alias, err)
	}
	return uint64(l.ID)
}

// endViews does what happens to live views when the origin is told to stop.
func (s *server) endViews() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	if err := s.views.Run(ctx); err != nil {
		s.t.Errorf("Run: %v", err)
	}
}

// await polls until the condition holds.
func (s *server) await(what string, holds func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// sameJSON compares what was answered with what is wanted.
func sameJSON(t *testing.T, what string, got, want any) {
	t.Helper()
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("%s = %s, want %s (%v, %v)", what, a, b, errA, errB)
	}
}

// answer is a response with its body read as JSON.
type answer struct {
	*httptest.ResponseRecorder
	json  map[string]any
	array []any // where the body is one
}

// do calls the API as admin; options change the request.
func (s *server) do(method, path, body string, options ...func(*http.Request)) answer {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+s.admin)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, option := range options {
		option(r)
	}
	a := answer{ResponseRecorder: httptest.NewRecorder()}
	s.api.ServeHTTP(a.ResponseRecorder, r)
	if strings.Contains(a.Header().Get("Content-Type"), "json") && a.Body.Len() > 0 {
		var body any
		if err := json.Unmarshal(a.Body.Bytes(), &body); err != nil {
			s.t.Fatalf("%s %s: answer is no JSON: %v\n%s", method, path, err, a.Body)
		}
		a.json, _ = body.(map[string]any)
		a.array, _ = body.([]any)
	}
	return a
}

// want is do, and fails the test for another status.
func (s *server) want(status int, method, path, body string, options ...func(*http.Request)) answer {
	s.t.Helper()
	a := s.do(method, path, body, options...)
	if a.Code != status {
		s.t.Fatalf("%s %s %s: status %d, want %d\n%s\n%s", method, path, body, a.Code, status, a.Body, s.log)
	}
	if status >= 400 {
		a.wantProblem(s.t)
	}
	return a
}

// wantProblem checks the shape that every error has.
func (a answer) wantProblem(t *testing.T) {
	t.Helper()
	if got := a.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type = %q, want application/problem+json", got)
	}
	if got := a.json["status"]; got != float64(a.Code) {
		t.Errorf("status in the body = %v, want %d", got, a.Code)
	}
	for _, member := range []string{"type", "title", "detail"} {
		if text, _ := a.json[member].(string); text == "" {
			t.Errorf("%s = %v, want a text", member, a.json[member])
		}
	}
}

// fields names the refused fields of a problem.
func (a answer) fields() []string {
	var fields []string
	faults, _ := a.json["errors"].([]any)
	for _, f := range faults {
		fault, _ := f.(map[string]any)
		name, _ := fault["field"].(string)
		fields = append(fields, name)
	}
	return fields
}

// The options of requests.

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func bearer(key string) func(*http.Request) { return header("Authorization", "Bearer "+key) }

func anonymous(r *http.Request) { r.Header.Del("Authorization") }

// What another API beside this one is made with.

func (s *server) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(&lockedWriter{w: s.log}, nil))
}

func (s *server) public() *url.URL { return &url.URL{Scheme: "https", Host: "wp.example"} }

func (s *server) now() time.Time { return time.Now() }
