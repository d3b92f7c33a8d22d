package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestBulkRequestsTakeATurnBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const turns = 4
	const one = `{"items": [{"target": "https://example.com/"}]}`
	var sent []*io.PipeWriter
	var held sync.WaitGroup
	for range turns {
		body, send := io.Pipe()
		sent = append(sent, send)
		held.Go(func() {
			a := s.do("POST", "/api/v1/links/bulk", "", header("Content-Type", "application/json"),
				func(r *http.Request) { r.Body, r.ContentLength = body, int64(len(one)) })
			if a.Code != 200 {
				t.Errorf("status %d, want 200: %s", a.Code, a.Body)
			}
		})
		if _, err := send.Write([]byte(one[:1])); err != nil { // returns once the body is being read
			t.Fatal(err)
		}
	}
	read := false
	a := s.do("POST", "/api/v1/links/bulk", "", header("Content-Type", "application/json"),
		func(r *http.Request) {
			r.Body = io.NopCloser(readerFunc(func([]byte) (int, error) { read = true; return 0, io.EOF }))
		})
	if a.Code != 503 || a.Header().Get("Retry-After") == "" || read {
		t.Errorf("one too many: status %d, Retry-After %q, body read: %v; want 503 and no read", a.Code, a.Header().Get("Retry-After"), read)
	}
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/"}`)
	for _, send := range sent {
		_, _ = send.Write([]byte(one[1:]))
		_ = send.Close()
	}
	held.Wait()
	s.want(200, "POST", "/api/v1/links/bulk", one)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestABodyThatIsTooLargeEndsTheConnection(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	web := httptest.NewServer(s.api)
	defer web.Close()
	for size, closed := range map[int]bool{1 << 20: false, 1<<20 + 1: true} {
		const body = `{"target": "https://example.com/"}`
		r, err := http.NewRequestWithContext(t.Context(), "POST", web.URL+"/api/v1/links", strings.NewReader(body+strings.Repeat(" ", size-len(body))))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.admin)
		resp, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if (resp.StatusCode == 413) != closed || resp.Close != closed {
			t.Errorf("%d bytes: status %d, connection closed: %v, want %v", size, resp.StatusCode, resp.Close, closed)
		}
	}
}

func TestChangesAndDeletionsTakeConditionsOfSeveralLines(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	tag := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "a"}`).Header().Get("ETag")
	several := func(name string, tags ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = tags }
	}
	s.want(304, "GET", "/api/v1/links/a", "", several("If-None-Match", `"0.0"`, tag))
	s.want(412, "DELETE", "/api/v1/links/a", "", several("If-Match", `"0.0"`, `"0.1"`))
	s.want(204, "DELETE", "/api/v1/links/a", "", several("If-Match", `"0.0"`, tag))
}

func TestQueriesThatCannotBeDecodedAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, query := range []string{"q=%zz", "q=%", "q=a;b", "%gg=1", "q=%FF", "owner=%00", "domain=%FF"} {
		a := s.do("GET", "/api/v1/links?"+query, "")
		if a.Code != 400 && a.Code != 422 {
			t.Errorf("?%s: status %d, want 400 or 422", query, a.Code)
		}
	}
}

func Test503sAreLoggedWithTheirCauseOnceASecond(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := serverOn(t, pg.URL())
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatalf("Stop: %v", err)
	}
	began := time.Now()
	const calls = 50
	for range calls {
		s.want(503, "GET", "/api/v1/links/x", "", header("X-Request-Id", "the-id"))
	}
	seconds := int(time.Since(began)/time.Second) + 1
	lines := 0
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, `"level":"WARN"`) && strings.Contains(line, "the-id") && strings.Contains(line, "postgres") {
			lines++
		}
	}
	const kinds = 2 // the server closes the session that is open, then refuses new ones
	if lines == 0 || lines > kinds*seconds {
		t.Errorf("%d lines about %d calls in %d s, want one a second and kind:\n%s", lines, calls, seconds, s.log)
	}
}

func TestAClientThatLeavesDoesNotStopItsWrite(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := serverOn(t, url)
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	watcher := connect() // not within the transaction, which would see one state of the sessions only
	tx, err := connect().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shard := feed.Shard(link.Key{Code: "left"}.Hash())
	if _, err := tx.Exec(t.Context(), `SELECT FROM shard_head WHERE shard = $1 FOR UPDATE`, shard); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	answered := make(chan answer, 1)
	go func() {
		answered <- s.do("POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "left"}`,
			func(r *http.Request) { *r = *r.WithContext(ctx) })
	}()
	bounded, giveUp := context.WithTimeout(t.Context(), 20*time.Second)
	defer giveUp()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for waiting := false; !waiting; <-tick.C {
		err := watcher.QueryRow(bounded, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
	leave()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := <-answered; a.Code != 201 {
		t.Errorf("status %d, want 201: %s", a.Code, a.Body)
	}
	s.want(200, "GET", "/api/v1/links/left", "")
	if n := s.published.len(); n != 1 {
		t.Errorf("%d changes published, want 1", n)
	}
}
