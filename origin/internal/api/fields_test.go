package api_test

import (
	"slices"
	"strings"
	"testing"
)

// values are sent to every field in turn: JSON of every type, and strings at
// and beyond all limits.
func values() []string {
	quoted := []string{
		``, ` `, `x`, `é`, `日本語`, `🙂`, `e\u0301`, `\u0301`, `\u0000`, `\u0001`, `\n`, `\r\n`, `\t`, `\u007f`, `\u0085`, `\u2028`,
		`\ud83d\ude00`, `\ud83d`, `\ude00`, `\ud83d\n`, `\ud83dx`, `\uffff`, `\ufeff`, `\u202e`, `\\`, `\"`, `'; DROP TABLE links; --`,
		`%`, `%00`, `%zz`, `../..`, `<script>`, `https://`, `https://example.com/`, `http://wp.example/x`, `https://` + domain,
		`https://example.com/%`, `javascript:alert(1)`, `on`, `off`, `true`, `null`, `302`, `admin`, `api`,
		`2030-01-01T00:00:00Z`, `2030-13-01T00:00:00Z`, `2030-01-01`, `0000-01-01T00:00:00Z`, `1970-01-01T00:00:00Z`,
		`9999-12-31T23:59:59-23:59`, `2030-01-01T00:00:00,5Z`, `2030-1-1T0:0:0Z`,
		strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("é", 129), strings.Repeat("x", 257),
		strings.Repeat("x", 9000), "https://example.com/" + strings.Repeat("é", 3000),
	}
	all := []string{
		`null`, `true`, `false`, `0`, `1`, `-1`, `302`, `302.0`, `302.5`, `3.02e2`, `1e400`, `-0`, `9223372036854775807`, `9223372036854775808`,
		`1e18`, `{}`, `{"a": null}`, `[]`, `[null]`, `[1]`, `["a"]`, `["a", 1]`, `[["a"]]`, `["\u0000"]`, `["\ud800"]`, `[""]`,
		`[` + strings.Repeat(`"x",`, 40) + `"y"]`, `[` + strings.Repeat(`[`, 2000) + strings.Repeat(`]`, 2000) + `]`,
	}
	for _, length := range []int{64, 65} {
		all = append(all, `["`+strings.Repeat("x", length)+`"]`)
	}
	for _, s := range quoted {
		all = append(all, `"`+s+`"`)
	}
	return all
}

func TestEveryFieldTakesOrRefusesEveryValue(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "patched"}`)
	fields := []string{
		"target", "alias", "domain", "code_kind", "status", "enabled", "starts_at", "expires_at", "ttl_seconds", "expired_url",
		"max_clicks", "owner", "title", "tags", "query", "suffix", "class", "clicks", "reuse", "code", "version", "nonsense", "Target", "",
	}
	for _, field := range fields {
		for _, value := range values() {
			body := `{"` + field + `": ` + value + `}`
			patched := s.do("PATCH", "/api/v1/links/patched", body)
			s.judge(patched, "PATCH", field, body, 200)
			if field != "target" {
				body = `{"target": "https://example.com/", "` + field + `": ` + value + `}`
			}
			s.judge(s.do("POST", "/api/v1/links", body), "POST", field, body, 201, 200, 409)
		}
	}
	if strings.Contains(s.log.String(), "ERROR") {
		t.Errorf("faults were logged:\n%s", s.log)
	}
}

// judge accepts the statuses, and 422 that names the field and nothing else.
func (s *server) judge(a answer, method, field, body string, accepted ...int) {
	s.t.Helper()
	if slices.Contains(accepted, a.Code) {
		return
	}
	named := a.fields()
	// An owner's field may not be changed by the value of another one.
	if a.Code != 422 || len(named) == 0 || slices.ContainsFunc(named, func(n string) bool { return n != field }) {
		s.t.Errorf("%s %.200s: status %d, fields %q", method, body, a.Code, named)
		return
	}
	a.wantProblem(s.t)
}

func TestEveryFaultIsNamed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, c := range []struct {
		body string
		want []string
	}{
		{`{}`, []string{"target"}},
		{`{"target": null}`, []string{"target"}},
		{`{"target": 1, "status": "x", "nope": 1, "tags": "t", "title": "a", "title": "b"}`, []string{"nope", "status", "tags", "target", "title"}},
		{
			`{"target": "ftp://x", "alias": "a/b", "status": 303, "owner": "\u0001", "query": "x", "suffix": "x", "class": "x", "clicks": "x", "domain": "other.example", "code_kind": "x"}`,
			[]string{"alias", "class", "clicks", "code_kind", "domain", "owner", "query", "status", "suffix", "target"},
		},
		{`{"target": "https://example.com/", "ttl_seconds": 5, "expires_at": "2040-01-01T00:00:00Z"}`, []string{"ttl_seconds"}},
		{`{"target": "https://example.com/", "max_clicks": 0}`, []string{"max_clicks"}},
		{`{"target": "https://example.com/", "expires_at": "2001-01-01T00:00:00Z"}`, []string{"expires_at"}},
		{`{"target": "https://example.com/", "starts_at": "2041-01-01T00:00:00Z", "expires_at": "2040-01-01T00:00:00Z"}`, []string{"expires_at"}},
		{`{"target": "https://example.com/", "starts_at": "2041-01-01T00:00:00Z", "ttl_seconds": 5}`, []string{"ttl_seconds"}},
		{`{"target": "https://WP.example./loop"}`, []string{"target"}},
		{`{"target": "https://` + domain + `:8443/loop", "expired_url": "https://wp.example"}`, []string{"expired_url", "target"}},
		{`{"target": "https://example.com/", "code": "x", "short_url": "x"}`, []string{"code", "short_url"}},
	} {
		got := s.want(422, "POST", "/api/v1/links", c.body).fields()
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: fields = %v, want %v", c.body, got, c.want)
		}
	}
	if got := s.published.len(); got != 0 {
		t.Errorf("published %d changes of refused links", got)
	}
}

func TestOrderOfStartAndExpiryInChanges(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "o", "expires_at": "2040-01-01T00:00:00Z"}`)
	for _, c := range []struct{ patch, field string }{
		{`{"starts_at": "2040-01-01T00:00:00Z"}`, "starts_at"},
		{`{"starts_at": "2039-01-01T00:00:00Z"}`, ""},
		{`{"expires_at": "2038-01-01T00:00:00Z"}`, "expires_at"},
		{`{"ttl_seconds": 1}`, "ttl_seconds"},
		{`{"expires_at": "2001-01-01T00:00:00Z"}`, ""},
		{`{"title": "ended before it starts"}`, ""},
		{`{"starts_at": null, "expires_at": "2041-01-01T00:00:00Z"}`, ""},
	} {
		if c.field == "" {
			s.want(200, "PATCH", "/api/v1/links/o", c.patch)
			continue
		}
		if got := s.want(422, "PATCH", "/api/v1/links/o", c.patch).fields(); !slices.Equal(got, []string{c.field}) {
			t.Errorf("%s: fields = %v, want %s", c.patch, got, c.field)
		}
	}
}
