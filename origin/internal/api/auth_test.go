package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waypost/deploy/services"
	"waypost/origin/internal/api"
	"waypost/origin/internal/links"
)

func TestCallsNeedAKeyWithTheScope(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, c := range []struct{ method, path, body, scope string }{
		{"POST", "/api/v1/links", `{"target": "https://example.com/"}`, "links:write"},
		{"GET", "/api/v1/links", "", "links:read"},
		{"POST", "/api/v1/links/bulk", `{"items": []}`, "links:write"},
		{"GET", "/api/v1/links/x", "", "links:read"},
		{"PATCH", "/api/v1/links/x", `{}`, "links:write"},
		{"DELETE", "/api/v1/links/x", "", "links:write"},
		{"POST", "/api/v1/purge", `{"tag": "x"}`, "links:write"},
		{"POST", "/api/v1/purge?ack=commit", `{"codes": ["x"]}`, "links:write"},
		{"GET", "/api/v1/links/x/stats", "", "stats:read"},
		{"GET", "/api/v1/links/x/clicks", "", "stats:read"},
		{"DELETE", "/api/v1/links/x/clicks", "", "admin"},
		{"GET", "/api/v1/links/x/live", "", "stats:read"},
		{"GET", "/api/v1/stats/top", "", "stats:read"},
		{"GET", "/api/v1/stats/orphans", "", "stats:read"},
		{"POST", "/api/v1/keys", `{"scopes": ["links:read"]}`, "admin"},
		{"GET", "/api/v1/keys", "", "admin"},
		{"DELETE", "/api/v1/keys/x", "", "admin"},
		{"GET", "/api/v1/blocks/x", "", "admin"},
	} {
		a := s.want(401, c.method, c.path, c.body, anonymous)
		if got := a.Header().Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") {
			t.Errorf("%s %s: WWW-Authenticate = %q", c.method, c.path, got)
		}
		for _, scope := range []string{"links:read", "links:write", "stats:read", "admin"} {
			allowed := scope == c.scope || scope == "admin"
			status := s.do(c.method, c.path, c.body, bearer(s.key("", scope))).Code
			if (status == 403) == allowed || status == 401 {
				t.Errorf("%s %s with %s: status %d", c.method, c.path, scope, status)
			}
		}
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, value := range []string{
		"", "Bearer", "Bearer ", "Basic " + s.admin, s.admin, "Bearer " + s.admin + "x", "Bearer " + s.admin[:len(s.admin)-1],
		"Bearer wp__", "Bearer wp_x_y", "Bearer \x00", "Bearer " + strings.Repeat("x", 10000),
		"Bearer wp_" + strings.Repeat("0", 12) + "_" + strings.Repeat("0", 43),
		"Bearer " + s.admin[:len(s.admin)-1] + "\u00ff",
	} {
		s.want(401, "GET", "/api/v1/links", "", header("Authorization", value))
	}
	s.want(200, "GET", "/api/v1/links", "", header("Authorization", "bearer  "+s.admin))
}

func TestKeysAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.want(201, "POST", "/api/v1/keys", `{"owner": "ann", "scopes": ["links:write", "links:read", "links:read"], "note": "hers"}`)
	key, _ := made.json["key"].(string)
	id, _ := made.json["id"].(string)
	if !strings.HasPrefix(key, "wp_"+id+"_") || made.json["owner"] != "ann" || made.json["note"] != "hers" || len(made.json["scopes"].([]any)) != 2 {
		t.Errorf("made %v", made.json)
	}
	s.want(200, "GET", "/api/v1/links", "", bearer(key))
	list := s.want(200, "GET", "/api/v1/keys", "")
	if items := list.json["items"].([]any); len(items) != 2 || items[1].(map[string]any)["id"] != id {
		t.Errorf("list = %v, want the first key and the new one", items)
	}
	if secret := key[len("wp_"+id+"_"):]; strings.Contains(list.Body.String(), secret) {
		t.Error("the list shows a key's secret")
	}
	s.want(204, "DELETE", "/api/v1/keys/"+id, "")
	s.want(404, "DELETE", "/api/v1/keys/"+id, "")
	s.want(401, "GET", "/api/v1/links", "", bearer(key))
	for body, field := range map[string]string{
		`{}`: "scopes", `{"scopes": []}`: "scopes", `{"scopes": ["root"]}`: "scopes", `{"scopes": "admin"}`: "scopes",
		`{"scopes": ["admin"], "owner": "ann"}`: "owner", `{"scopes": ["admin"], "id": "x"}`: "id", `{"scopes": ["admin"], "note": "\u0000"}`: "note",
	} {
		if fields := s.want(422, "POST", "/api/v1/keys", body).fields(); !slices.Equal(fields, []string{field}) {
			t.Errorf("%s: fields = %v, want %s", body, fields, field)
		}
	}
}

func TestKeysAreListedAPageAtATime(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const most = 100
	for range most { // and the first admin key
		s.key("", "links:read")
	}
	ids := func(a answer) (all []string, next string) {
		items, _ := a.json["items"].([]any)
		for _, item := range items {
			key, _ := item.(map[string]any)
			id, _ := key["id"].(string)
			all = append(all, id)
		}
		next, _ = a.json["next_cursor"].(string)
		return all, next
	}
	first, next := ids(s.want(200, "GET", "/api/v1/keys", ""))
	if len(first) != most || next == "" || first[0] != strings.Split(s.admin, "_")[1] {
		t.Fatalf("%d keys, next %q, want %d, the oldest first, and a next page", len(first), next, most)
	}
	// A key that ends a page may be revoked before the next one is read.
	s.want(204, "DELETE", "/api/v1/keys/"+first[most-1], "")
	last, none := ids(s.want(200, "GET", "/api/v1/keys?cursor="+next, ""))
	if len(last) != 1 || none != "" || slices.Contains(first, last[0]) {
		t.Errorf("second page %v, next %q, want the one key that is left", last, none)
	}
	var all []string
	for cursor, more := "", true; more && len(all) <= most; more = cursor != "" {
		var page []string
		page, cursor = ids(s.want(200, "GET", "/api/v1/keys?limit=30&cursor="+cursor, ""))
		all = append(all, page...)
	}
	if want := append(first[:most-1:most-1], last...); !slices.Equal(all, want) {
		t.Errorf("by 30: %v, want %v", all, want)
	}
	for _, query := range []string{"limit=0", "limit=101", "cursor=%21", "cursor=AA", "owner=ann"} {
		s.want(422, "GET", "/api/v1/keys?"+query, "")
	}
}

func TestTheLastAdminKeyStays(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.key("", "links:read", "links:write")
	id := strings.Split(s.admin, "_")[1]
	a := s.want(409, "DELETE", "/api/v1/keys/"+id, "")
	if detail, _ := a.json["detail"].(string); !strings.Contains(detail, "last admin key") {
		t.Errorf("detail = %q, want it to say why", detail)
	}
	other := s.key("", "admin")
	s.want(204, "DELETE", "/api/v1/keys/"+id, "")
	s.want(401, "GET", "/api/v1/keys", "")
	s.want(200, "GET", "/api/v1/keys", "", bearer(other))
}

func TestCallsWithoutAKeyAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	from := func(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }
	s.want(200, "GET", "/api/v1/links", "", from("192.0.2.7:2"))
	limited := 0
	for range 500 {
		a := s.do("GET", "/api/v1/links", "", anonymous, from("192.0.2.7:1"), header("X-Forwarded-For", "198.51.100.9"))
		switch a.Code {
		case 401:
		case 429:
			limited++
			if a.Header().Get("Retry-After") != "1" {
				t.Fatalf("Retry-After = %q, want 1", a.Header().Get("Retry-After"))
			}
		default:
			t.Fatalf("status %d, want 401 or 429", a.Code)
		}
	}
	if limited == 0 {
		t.Error("none of 500 calls was limited")
	}
	// A key that was valid a moment ago is not locked out by its neighbours.
	s.want(200, "GET", "/api/v1/links", "", from("192.0.2.7:2"))
	s.want(401, "GET", "/api/v1/links", "", anonymous, from("198.51.100.9:1"))
}

func TestAnAddressThatUsedUpItsCallsCostsNoLookUp(t *testing.T) {
	t.Parallel()
	pg := services.PrivatePostgres(t)
	s := serverOn(t, pg.URL())
	known, revoked, unseen := s.key("", "links:read"), s.key("", "links:read"), s.key("", "links:read")
	clock := time.Now() // stands still: a bucket that is empty stays so
	a, err := api.New(api.Config{
		Links: links.New(links.Deps{}), Keys: s.keys, Logger: s.logger(), Metrics: prometheus.NewRegistry(),
		Public: s.public(), Now: func() time.Time { return clock },
	})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	s.api = a
	// It answers 422, without a look at links, if the key is valid.
	call := func(key string) int { return s.do("GET", "/api/v1/links?limit=0", "", bearer(key)).Code }
	for _, key := range []string{known, revoked} {
		if got := call(key); got != 422 {
			t.Fatalf("status %d, want 422", got)
		}
	}
	if err := s.keys.Revoke(t.Context(), strings.Split(revoked, "_")[1]); err != nil {
		t.Fatalf("Revoke: %v", err)
	}
	for range 50 {
		if got := call(links.NewKeyText()); got != 401 {
			t.Fatalf("status %d, want 401", got)
		}
	}
	for name, c := range map[string]struct {
		key  string
		want int
	}{"known": {known, 422}, "not seen yet": {unseen, 429}, "none": {links.NewKeyText(), 429}} {
		if got := call(c.key); got != c.want {
			t.Errorf("%s: status %d, want %d", name, got, c.want)
		}
	}
	if got := call(revoked); got != 429 { // looked up, found invalid, and counted
		t.Errorf("revoked: status %d, want 429", got)
	}
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatalf("Stop: %v", err)
	}
	for name, c := range map[string]struct {
		key  string
		want int
	}{"known": {known, 503}, "revoked": {revoked, 429}, "not seen yet": {unseen, 429}} {
		if got := call(c.key); got != c.want {
			t.Errorf("%s without a store: status %d, want %d", name, got, c.want)
		}
	}
	clock = clock.Add(time.Minute) // the bucket is full again, so every key is looked up
	if got := call(unseen); got != 503 {
		t.Errorf("a minute later: status %d, want 503", got)
	}
	for range 50 {
		s.do("GET", "/api/v1/links", "", anonymous)
	}
	if got := call(known); got != 429 {
		t.Errorf("known a minute ago: status %d, want 429", got)
	}
}
