package api_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"waypost/shared/feed"
)

// purgeable has links a and b of ann, c of bob, all tagged x, and d of ann on
// another domain, tagged x and y.
func purgeable(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	for _, link := range []string{
		`"alias": "a", "owner": "ann", "tags": ["x"]`, `"alias": "b", "owner": "ann", "tags": ["x"]`,
		`"alias": "c", "owner": "bob", "tags": ["x"]`, `"alias": "d", "owner": "ann", "tags": ["x", "y"], "domain": "` + domain + `"`,
	} {
		s.want(201, "POST", "/api/v1/links?ack=commit", `{"target": "https://example.com/", `+link+`}`)
	}
	return s
}

func TestPurge(t *testing.T) {
	t.Parallel()
	s := purgeable(t)
	ann := bearer(s.key("ann", "links:write"))
	for _, tc := range []struct {
		name    string
		body    string
		caller  string // "" = the admin key
		purged  any
		missing []any
		changes int
	}{
		{"a code", `{"codes": ["a"]}`, "", 1.0, []any{}, 1},
		{"codes, repeated and unknown ones", `{"codes": ["c", "a", "a", "none", "a/b", "\u0000"]}`, "", 2.0, []any{"a/b", "\x00", "none"}, 2},
		{"codes of a domain", `{"codes": ["d", "a"], "domain": "GO.example.com."}`, "", 1.0, []any{"a"}, 1},
		{"codes of no domain", `{"codes": ["a"], "domain": "no domain"}`, "", 0.0, []any{"a"}, 0},
		{"codes of somebody else", `{"codes": ["a", "c"]}`, "ann", 1.0, []any{"c"}, 1},
		{"null is as if left out", `{"codes": ["a"], "domain": null, "tag": null, "all": null}`, "", 1.0, []any{}, 1},
		{"a tag", `{"tag": "x"}`, "", 4.0, []any{}, 4},
		{"a tag of a confined key", `{"tag": "x"}`, "ann", 3.0, []any{}, 3},
		{"a tag that no link has", `{"tag": "z"}`, "", 0.0, []any{}, 0},
		{"all", `{"all": true}`, "", nil, []any{}, feed.Shards},
	} {
		since, waits := s.published.len(), s.barrier.len()
		var options []func(*http.Request)
		if tc.caller == "ann" {
			options = append(options, ann)
		}
		a := s.want(200, "POST", "/api/v1/purge", tc.body, options...)
		if !reflect.DeepEqual(a.json["purged"], tc.purged) || !reflect.DeepEqual(a.json["missing"], tc.missing) {
			t.Errorf("%s: purged %v, missing %v, want %v and %v", tc.name, a.json["purged"], a.json["missing"], tc.purged, tc.missing)
		}
		if got := s.published.len() - since; got != tc.changes {
			t.Errorf("%s: published %d changes, want %d", tc.name, got, tc.changes)
		}
		ack, edges, acked := "edges", 3.0, 2.0
		if tc.changes == 0 {
			ack, edges, acked = "commit", 0, 0
		}
		if a.json["ack"] != ack || a.json["edges"] != edges || a.json["acked"] != acked {
			t.Errorf("%s: receipt %v, want ack=%s, edges=%v, acked=%v", tc.name, a.json, ack, edges, acked)
		}
		if ms, ok := a.json["ms"].(float64); !ok || ms < 0 {
			t.Errorf("%s: ms = %v", tc.name, a.json["ms"])
		}
		if got := a.Header().Get("Waypost-Propagation"); !strings.HasPrefix(got, "ack="+ack+", edges=") {
			t.Errorf("%s: Waypost-Propagation = %q", tc.name, got)
		}
		if got := s.barrier.len() - waits; got != min(1, tc.changes) {
			t.Errorf("%s: waited %d times, want %d", tc.name, got, min(1, tc.changes))
		}
	}
}

func TestAPurgeChangesNothingOfALink(t *testing.T) {
	t.Parallel()
	s := purgeable(t)
	before := s.want(200, "GET", "/api/v1/links/a", "")
	s.want(200, "POST", "/api/v1/purge", `{"codes": ["a"]}`)
	after := s.want(200, "GET", "/api/v1/links/a", "")
	if !reflect.DeepEqual(after.json, before.json) || after.Header().Get("ETag") != before.Header().Get("ETag") {
		t.Errorf("link = %v, want it unchanged %v", after.json, before.json)
	}
	last := s.published.changes[len(s.published.changes)-1]
	if last.Kind != feed.Purge || last.Key.Code != "a" || last.Value != "" {
		t.Errorf("change = %+v, want a purge without a value", last)
	}
}

func TestPurgesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := purgeable(t)
	since := s.published.len()
	for body, want := range map[string][]string{
		`{}`:                                       {"body"},
		`{"codes": null}`:                          {"body"},
		`{"codes": ["a"], "tag": "x"}`:             {"body"},
		`{"codes": ["a"], "all": true}`:            {"body"},
		`{"tag": "x", "all": true}`:                {"body"},
		`{"tag": "x", "domain": "go.example.com"}`: {"domain"},
		`{"domain": "go.example.com"}`:             {"body", "domain"},
		`{"all": false}`:                           {"all"},
		`{"all": "true"}`:                          {"all"},
		`{"all": 1}`:                               {"all"},
		`{"codes": []}`:                            {"codes"},
		`{"codes": "a"}`:                           {"codes"},
		`{"codes": [1]}`:                           {"codes"},
		`{"codes": [` + strings.Repeat(`"a",`, 1000) + `"a"]}`: {"codes"},
		`{"tag": ""}`: {"tag"},
		`{"tag": "` + strings.Repeat("x", 65) + `"}`: {"tag"},
		`{"tag": "\u0000"}`:                          {"tag"},
		`{"tag": ["x"]}`:                             {"tag"},
		`{"codes": ["a"], "code": "a"}`:              {"code"},
		`{"tag": "x", "tag": "x"}`:                   {"tag"},
		`["a"]`:                                      {"body"},
	} {
		if got := s.want(422, "POST", "/api/v1/purge", body).fields(); !slices.Equal(got, want) {
			t.Errorf("%.60s: fields = %v, want %v", body, got, want)
		}
	}
	for body, status := range map[string]int{"": 400, "{": 400, `{"codes": ["` + strings.Repeat("a", 1<<20) + `"]}`: 413} {
		s.want(status, "POST", "/api/v1/purge", body)
	}
	s.want(415, "POST", "/api/v1/purge", `{"all": true}`, header("Content-Type", "text/plain"))
	s.want(405, "GET", "/api/v1/purge", "")
	if got := s.published.len(); got != since {
		t.Errorf("published %d changes, want none", got-since)
	}
}

func TestOnlyAnAdminPurgesAll(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, owner := range []string{"", "ann"} {
		a := s.want(403, "POST", "/api/v1/purge", `{"all": true}`, bearer(s.key(owner, "links:read", "links:write")))
		if got := a.Header().Get("WWW-Authenticate"); !strings.Contains(got, `scope="admin"`) {
			t.Errorf("WWW-Authenticate = %q, want it to name the scope", got)
		}
	}
	if s.published.len() != 0 {
		t.Errorf("published %d changes, want none", s.published.len())
	}
	s.want(200, "POST", "/api/v1/purge", `{"all": true}`, bearer(s.key("", "admin")))
}
