package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"waypost/origin/internal/links"
)

// entries are the items of a page of a history.
func (a answer) entries() []map[string]any {
	var all []map[string]any
	items, _ := a.json["items"].([]any)
	for _, item := range items {
		entry, _ := item.(map[string]any)
		all = append(all, entry)
	}
	return all
}

func TestHistoryTellsWhoChangedWhat(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	key, text, err := s.keys.Make(t.Context(), &links.KeyInput{Scopes: links.Value([]string{links.ScopeLinksRead, links.ScopeLinksWrite})})
	if err != nil {
		t.Fatal(err)
	}
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/a?b=1&c=<2>", "alias": "h", "domain": "`+domain+`", "tags": ["x"]}`, bearer(text))
	at := "/api/v1/links/h"
	of := "?domain=" + domain
	made := s.want(200, "GET", at+of, "").json
	s.want(200, "PATCH", at+of, `{"status": 301, "expires_at": "2040-01-01T00:00:00Z"}`)
	s.want(204, "DELETE", at+of, "", bearer(text))
	s.want(404, "GET", at+of, "", bearer(text))

	entries := s.want(200, "GET", at+"/history"+of, "", bearer(text)).entries()
	if len(entries) != 3 {
		t.Fatalf("%d entries, want 3: %v", len(entries), entries)
	}
	adminID := strings.Split(s.admin, "_")[1]
	for i, want := range []map[string]any{
		{"version": 3.0, "by": key.ID, "action": "delete", "changes": map[string]any{}},
		{"version": 2.0, "by": adminID, "action": "change", "changes": map[string]any{
			"status":     map[string]any{"from": 302.0, "to": 301.0},
			"expires_at": map[string]any{"from": nil, "to": "2040-01-01T00:00:00Z"},
		}},
		{"version": 1.0, "by": key.ID, "action": "create", "at": made["created_at"], "changes": map[string]any{
			"target": map[string]any{"from": nil, "to": "https://example.com/a?b=1&c=%3C2%3E"},
			"tags":   map[string]any{"from": nil, "to": []any{"x"}},
		}},
	} {
		want["owner"] = ""
		for field, value := range want {
			if !reflect.DeepEqual(entries[i][field], value) {
				t.Errorf("entry %d: %s = %v, want %v", i, field, entries[i][field], value)
			}
		}
	}
	for path, fault := range map[string]string{"?domain=none.example": "", "?domain=" + domain + "&cursor=x": "cursor", "?limit=0": "limit", "?cursor=-1": "cursor"} {
		if fault == "" {
			s.want(404, "GET", at+"/history"+path, "")
		} else if a := s.want(422, "GET", at+"/history"+path, ""); !slices.Equal(a.fields(), []string{fault}) {
			t.Errorf("%s: %v, want a fault of %s", path, a.fields(), fault)
		}
	}
	s.want(404, "GET", "/api/v1/links/never/history", "")
}

func TestHistoryIsPagedWhileItGrows(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "p"}`)
	change := func(i int) { s.want(200, "PATCH", "/api/v1/links/p", fmt.Sprintf(`{"title": "%d"}`, i)) }
	for i := range 6 {
		change(i)
	}
	var got []float64
	for cursor, pages := "", 0; pages < 10; pages++ {
		page := s.want(200, "GET", "/api/v1/links/p/history?limit=3&cursor="+url.QueryEscape(cursor), "")
		for _, e := range page.entries() {
			version, _ := e["version"].(float64)
			got = append(got, version)
		}
		change(pages)
		next, more := page.json["next_cursor"].(string)
		if !more {
			break
		}
		cursor = next
	}
	if !slices.Equal(got, []float64{7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("pages have %v, want 7 to 1", got)
	}
}

func TestRollbackIsAnOrdinaryChange(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/1", "alias": "r", "title": "one", "tags": ["a"], "status": 307,
		"expires_at": "2041-01-01T00:00:00Z", "class": "strict", "clicks": "off", "owner": "ann"}`)
	changed := s.want(200, "PATCH", "/api/v1/links/r", `{"target": "https://example.com/2", "title": null, "tags": null, "status": null,
		"expires_at": "2001-01-01T00:00:00Z", "class": null, "clicks": null, "owner": "bob", "max_clicks": 7, "enabled": false}`)
	waited := s.barrier.len()
	s.want(412, "POST", "/api/v1/links/r/rollback", `{"version": 1}`, header("If-Match", made.Header().Get("ETag")))
	back := s.want(200, "POST", "/api/v1/links/r/rollback", `{"version": 1}`, header("If-Match", changed.Header().Get("ETag")))
	for field, want := range made.json {
		switch got := back.json[field]; field {
		case "version":
			if got != 3.0 || back.Header().Get("ETag") != `"1.3"` {
				t.Errorf("version = %v, ETag = %s, want 3", got, back.Header().Get("ETag"))
			}
		case "updated_at":
		default:
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s = %v, want %v", field, got, want)
			}
		}
	}
	if got := back.Header().Get("Waypost-Propagation"); !strings.HasPrefix(got, "ack=edges, edges=3") || s.barrier.len() != waited+1 {
		t.Errorf("Waypost-Propagation = %q after %d waits, want a receipt of one", got, s.barrier.len()-waited)
	}
	// Forward again, to where it had ended.
	ended := s.want(200, "POST", "/api/v1/links/r/rollback?ack=commit", `{"version": 2}`)
	if ended.json["expires_at"] != "2001-01-01T00:00:00Z" || ended.json["owner"] != "bob" || ended.json["max_clicks"] != 7.0 || ended.json["enabled"] != false {
		t.Errorf("got %v, want the content of version 2", ended.json)
	}
	actions := []any{}
	for _, e := range s.want(200, "GET", "/api/v1/links/r/history", "").entries() {
		actions = append(actions, e["action"])
	}
	if !reflect.DeepEqual(actions, []any{"rollback", "rollback", "change", "create"}) {
		t.Errorf("actions = %v", actions)
	}
	for _, body := range []string{`{}`, `{"version": null}`, `{"version": 0}`, `{"version": -1}`, `{"version": "1"}`, `{"version": 1.5}`, `{"version": 99}`} {
		if a := s.want(422, "POST", "/api/v1/links/r/rollback", body); !slices.Equal(a.fields(), []string{"version"}) {
			t.Errorf("%s: %s, want a fault of version", body, a.Body)
		}
	}
	s.want(422, "POST", "/api/v1/links/r/rollback", `{"version": 1, "title": "x"}`)
	s.want(400, "POST", "/api/v1/links/r/rollback", `{`)
	s.want(204, "DELETE", "/api/v1/links/r", "")
	s.want(404, "POST", "/api/v1/links/r/rollback", `{"version": 1}`)
	s.want(404, "POST", "/api/v1/links/never/rollback", `{"version": 1}`)
}

func TestRollbackToWhatIsRefusedTodayIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://evil.example/", "alias": "b"}`)
	s.want(200, "PATCH", "/api/v1/links/b", `{"target": "https://example.com/", "expired_url": "https://evil.example/"}`)
	s.want(200, "PATCH", "/api/v1/links/b", `{"expired_url": null}`)
	s.want(201, "POST", "/api/v1/blocks", `{"host": "evil.example", "kind": "exact"}`)
	for version, field := range map[int]string{1: "target", 2: "expired_url"} {
		a := s.want(422, "POST", "/api/v1/links/b/rollback", fmt.Sprintf(`{"version": %d}`, version))
		if !slices.Equal(a.fields(), []string{field}) {
			t.Errorf("version %d: %s, want a fault of %s", version, a.Body, field)
		}
	}
	s.want(200, "POST", "/api/v1/links/b/rollback", `{"version": 3}`)
}

func TestHistoryOfAnothersLinkIsNotThere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ann, bob := s.key("ann", links.ScopeLinksRead, links.ScopeLinksWrite), s.key("bob", links.ScopeLinksRead, links.ScopeLinksWrite)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/secret", "alias": "o"}`, bearer(ann))
	s.want(404, "GET", "/api/v1/links/o/history", "", bearer(bob))
	s.want(404, "POST", "/api/v1/links/o/rollback", `{"version": 1}`, bearer(bob))
	s.want(200, "PATCH", "/api/v1/links/o", `{"owner": "bob", "target": "https://example.com/bob"}`)
	s.want(404, "GET", "/api/v1/links/o/history", "", bearer(ann))
	a := s.want(200, "GET", "/api/v1/links/o/history", "", bearer(bob))
	if e := a.entries(); len(e) != 1 || strings.Contains(a.Body.String(), "secret") || strings.Contains(a.Body.String(), "ann") {
		t.Errorf("bob sees %s, want nothing of ann's", a.Body)
	}
	s.want(422, "POST", "/api/v1/links/o/rollback", `{"version": 1}`, bearer(bob))
	s.want(200, "POST", "/api/v1/links/o/rollback", `{"version": 2}`, bearer(bob))
	s.want(204, "DELETE", "/api/v1/links/o", "", bearer(bob))
	if e := s.want(200, "GET", "/api/v1/links/o/history", "", bearer(bob)).entries(); len(e) != 3 {
		t.Errorf("bob sees %d entries once it is deleted, want 3", len(e))
	}
	s.want(404, "GET", "/api/v1/links/o/history", "", bearer(ann))
	s.want(403, "GET", "/api/v1/links/o/history", "", bearer(s.key("", links.ScopeLinksWrite)))
	s.want(403, "POST", "/api/v1/links/o/rollback", `{"version": 1}`, bearer(s.key("", links.ScopeLinksRead)))
}

func TestARollbackWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "a"}`)
	release := s.api.HoldRollbacks()
	ctx, leave := context.WithCancel(t.Context())
	body := strings.NewReader(`{"version": 1}`)
	a := s.want(503, "POST", "/api/v1/links/a/rollback", `{}`, func(r *http.Request) {
		*r = *r.WithContext(ctx)
		r.Body = io.NopCloser(readerFunc(func(b []byte) (int, error) {
			n, err := body.Read(b)
			if err != nil {
				leave() // once the body is read, which is after the key was checked
			}
			return n, err
		}))
	})
	if detail, _ := a.json["detail"].(string); a.Header().Get("Retry-After") != "1" || !strings.Contains(detail, "rollbacks") {
		t.Errorf("without a turn: Retry-After %q, %q", a.Header().Get("Retry-After"), detail)
	}
	release()
	s.want(200, "POST", "/api/v1/links/a/rollback", `{"version": 1}`)
}
