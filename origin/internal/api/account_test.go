package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"waypost/origin/internal/api"
	"waypost/origin/internal/links"
)

// requestLine is what the log has of a request.
type requestLine struct {
	Level, Msg, Method, Route, Key string

	ID       string `json:"request_id"`
	Status   int
	Duration int64 // nanoseconds
}

// lines are those of requests.
func (s *server) lines() (all []requestLine) {
	s.t.Helper()
	for text := range strings.Lines(s.log.String()) {
		var line requestLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			s.t.Fatalf("%s: %v", text, err)
		}
		if line.Msg == "request" {
			all = append(all, line)
		}
	}
	return all
}

func TestEveryRequestHasItsLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	reader, unknown := s.key("ann", "links:read"), links.NewKeyText()
	idOf := func(key string) string { return strings.Split(key, "_")[1] }
	calls := []struct {
		method, path string
		option       func(*http.Request)
		want         requestLine
	}{
		{"GET", "/api/v1/links", bearer(reader), requestLine{"DEBUG", "request", "GET", "GET /api/v1/links", idOf(reader), "", 200, 0}},
		{"HEAD", "/api/v1/links", bearer(reader), requestLine{"DEBUG", "request", "HEAD", "GET /api/v1/links", idOf(reader), "", 200, 0}},
		{"GET", "/api/v1/links/none?domain=none.example", bearer(reader), requestLine{"INFO", "request", "GET", "GET /api/v1/links/{code}", idOf(reader), "", 404, 0}},
		{"DELETE", "/api/v1/links/none", bearer(reader), requestLine{"INFO", "request", "DELETE", "DELETE /api/v1/links/{code}", idOf(reader), "", 403, 0}},
		{"GET", "/api/v1/links", anonymous, requestLine{"DEBUG", "request", "GET", "GET /api/v1/links", "", "", 401, 0}},
		{"GET", "/api/v1/links", bearer(unknown), requestLine{"DEBUG", "request", "GET", "GET /api/v1/links", "", "", 401, 0}},
		{"GET", "/nothing", bearer(reader), requestLine{"DEBUG", "request", "GET", "", "", "", 404, 0}},
		{"BREW" + strings.Repeat("W", 1000), "/api/v1/links", bearer(reader), requestLine{"DEBUG", "request", "BREW" + strings.Repeat("W", 60) + "...", "", "", "", 405, 0}},
		{"OPTIONS", "/api/v1/links", anonymous, requestLine{"DEBUG", "request", "OPTIONS", "", "", "", 204, 0}},
	}
	for level, told := range map[slog.Level]func(requestLine) bool{
		slog.LevelDebug: func(requestLine) bool { return true },
		slog.LevelInfo:  func(l requestLine) bool { return l.Level == "INFO" },
	} {
		s.log.Reset()
		s.rebuild(func(c *api.Config) {
			c.Logger = slog.New(slog.NewJSONHandler(&lockedWriter{w: s.log}, &slog.HandlerOptions{Level: level}))
		})
		var want []requestLine
		for _, c := range calls {
			a := s.do(c.method, c.path, "", c.option)
			if c.want.ID = a.Header().Get("X-Request-Id"); told(c.want) {
				want = append(want, c.want)
			}
		}
		got := s.lines()
		if len(got) != len(want) {
			t.Fatalf("at %v: %d lines, want %d:\n%s", level, len(got), len(want), s.log)
		}
		for i := range got {
			if got[i].Duration <= 0 {
				t.Errorf("at %v: %+v took no time", level, got[i])
			}
			if got[i].Duration = 0; got[i] != want[i] {
				t.Errorf("at %v: %+v, want %+v", level, got[i], want[i])
			}
		}
		for _, key := range []string{reader, unknown} {
			if secret := key[len(key)-43:]; strings.Contains(s.log.String(), secret) {
				t.Errorf("at %v the log has a key's secret", level)
			}
		}
	}
}
