package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// unzip returns what the body was before it was compressed.
func unzip(t *testing.T, body []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("body is not compressed: %v", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("body is cut short: %v", err)
	}
	return plain
}

// get calls without reading the answer as JSON.
func (s *server) get(path string, options ...func(*http.Request)) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Authorization", "Bearer "+s.admin)
	for _, option := range options {
		option(r)
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return w
}

func TestLargeAnswersAreCompressedForWhoeverPrefersThat(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for range 10 {
		s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/`+strings.Repeat("x", 200)+`"}`)
	}
	for path, zipped := range map[string]bool{
		"/api/v1/links": true, "/api/v1/links?limit=1": false, "/api/v1/openapi.json": true, "/docs": true, "/api/v1/links?q=nothing": false,
	} {
		plain := s.get(path)
		if plain.Header().Get("Content-Encoding") != "" || plain.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s without Accept-Encoding: Content-Encoding %q, Vary %q", path, plain.Header().Get("Content-Encoding"), plain.Header().Get("Vary"))
		}
		coded := s.get(path, header("Accept-Encoding", "br, gzip;q=0.9"))
		if got := coded.Header().Get("Content-Encoding") == "gzip"; got != zipped || coded.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: compressed %v, want %v; Vary %q; %d bytes", path, got, zipped, coded.Header().Get("Vary"), coded.Body.Len())
		}
		if got := coded.Header().Get("Content-Length"); got != strconv.Itoa(coded.Body.Len()) {
			t.Errorf("%s: Content-Length %q, want %d", path, got, coded.Body.Len())
		}
		body := coded.Body.Bytes()
		if zipped {
			if len(body) > plain.Body.Len()/2 {
				t.Errorf("%s: %d bytes of %d", path, len(body), plain.Body.Len())
			}
			body = unzip(t, body)
		}
		if path != "/docs" && !bytes.Equal(body, plain.Body.Bytes()) { // its first steps differ each time
			t.Errorf("%s: the compressed answer is another one", path)
		}
	}
}

func TestSmallAnswersAreCompressedIfNothingElseIsTaken(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	w := s.get("/api/v1/links", header("Accept-Encoding", "identity;q=0, gzip"))
	var body map[string]any
	if err := json.Unmarshal(unzip(t, w.Body.Bytes()), &body); err != nil || body["items"] == nil {
		t.Errorf("answer = %v, %v, want a page", body, err)
	}
	if w := s.get("/api/v1/links", header("Accept-Encoding", "identity;q=0, br")); w.Code != 200 || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("for a client that takes nothing we have: %d, Content-Encoding %q, want a plain 200", w.Code, w.Header().Get("Content-Encoding"))
	}
}

// A tag that comes with an answer is good for If-Match and If-None-Match,
// whatever encodings a client takes.
func TestTaggedAnswersAreNeverCompressed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	zip := header("Accept-Encoding", "gzip")
	made := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/`+strings.Repeat("x", 5000)+`", "alias": "long"}`, zip)
	w := s.get("/api/v1/links/long", zip)
	tag := w.Header().Get("ETag")
	if w.Header().Get("Content-Encoding") != "" || tag == "" || tag != made.Header().Get("ETag") || w.Header().Get("Vary") != "" {
		t.Errorf("Content-Encoding %q, ETag %q of %q, Vary %q", w.Header().Get("Content-Encoding"), tag, made.Header().Get("ETag"), w.Header().Get("Vary"))
	}
	s.want(304, "GET", "/api/v1/links/long", "", zip, header("If-None-Match", tag))
	s.want(200, "PATCH", "/api/v1/links/long", `{"title": "x"}`, zip, header("If-Match", tag))
}

func TestAnswersToOtherMethodsAndProblemsAreCompressedToo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for body, status := range map[string]int{
		`{"items": [` + strings.Repeat(`{"target": "https://example.com/"},`, 9) + `{}]}`: 200,
		`{"items": [], ` + strings.Repeat(`"x": 1, `, 60) + `"y": 2}`:                     422,
	} {
		r := httptest.NewRequest("POST", "/api/v1/links/bulk", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+s.admin)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, r)
		if w.Code != status || w.Header().Get("Content-Encoding") != "gzip" || !json.Valid(unzip(t, w.Body.Bytes())) {
			t.Errorf("status %d, want %d; Content-Encoding %q", w.Code, status, w.Header().Get("Content-Encoding"))
		}
	}
}

func TestLiveViewsAreNotCompressedNorHeldBack(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.link("live", "")
	web := httptest.NewServer(s.api)
	t.Cleanup(web.Close)
	t.Cleanup(s.endViews)
	r, err := http.NewRequestWithContext(t.Context(), "GET", web.URL+"/api/v1/links/live/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	r.Header.Set("Accept-Encoding", "gzip, identity;q=0.1")
	asked := time.Now()
	resp, err := web.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	t.Logf("header after %v", time.Since(asked))
	if resp.Header.Get("Content-Encoding") != "" || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("Content-Encoding %q, Content-Type %q", resp.Header.Get("Content-Encoding"), resp.Header.Get("Content-Type"))
	}
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || line != "event: clicks\n" {
		t.Errorf("first line = %q, %v, want an event as it is", line, err)
	}
}

func TestCompressionAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	plain := s.get("/api/v1/openapi.json").Body.Bytes()
	var all sync.WaitGroup
	for i := range 16 {
		from := func(r *http.Request) { r.RemoteAddr = "192.0.2." + strconv.Itoa(i) + ":1" }
		all.Go(func() {
			for range 5 {
				w := s.get("/api/v1/openapi.json", header("Accept-Encoding", "gzip"), from)
				if !bytes.Equal(unzip(t, w.Body.Bytes()), plain) {
					t.Error("the document is another one")
				}
			}
		})
	}
	all.Wait()
}
