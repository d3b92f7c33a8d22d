package api_test

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCreatedLinkHasEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/a?q=é", "alias": "hello"}`)
	created, _ := a.json["created_at"].(string)
	if _, err := time.Parse(time.RFC3339, created); err != nil || !strings.HasSuffix(created, "Z") {
		t.Errorf("created_at = %q, want RFC 3339 in UTC", created)
	}
	want := map[string]any{
		"domain": "", "code": "hello", "short_url": "https://wp.example/hello",
		"target": "https://example.com/a?q=%C3%A9", "status": 302.0, "enabled": true,
		"owner": "", "title": "", "tags": []any{}, "query": "off", "suffix": "off", "class": "available", "clicks": "on",
		"starts_at": nil, "expires_at": nil, "expired_url": nil, "max_clicks": nil,
		"created_at": created, "updated_at": created, "version": 1.0, "qr_url": "/api/v1/links/hello/qr",
	}
	if !reflect.DeepEqual(a.json, want) {
		t.Errorf("link = %v\nwant %v", a.json, want)
	}
	for name, want := range map[string]string{
		"Location": "/api/v1/links/hello", "ETag": `"1.1"`, "Content-Type": "application/json",
	} {
		if got := a.Header().Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if got := a.Header().Get("Waypost-Propagation"); !strings.HasPrefix(got, "ack=edges, edges=3, acked=2, ms=") {
		t.Errorf("Waypost-Propagation = %q", got)
	}
	if s.published.len() != 1 {
		t.Errorf("published %d changes, want 1", s.published.len())
	}
}

func TestLinkKeepsWhatItWasMadeWith(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "all", "domain": "GO.example.com.",
		"status": 308.0, "enabled": false, "owner": "ann", "title": "Tï", "tags": ["b", "a", "b"], "query": "request",
		"suffix": "append", "class": "strict", "clicks": "off", "starts_at": "2030-01-01T01:00:00+01:00",
		"expires_at": "2031-01-01T00:00:00.1234567Z", "expired_url": "https://example.com/over"}`)
	got := s.want(200, "GET", "/api/v1/links/all?domain="+domain, "").json
	for field, want := range map[string]any{
		"domain": domain, "short_url": "https://" + domain + "/all", "status": 308.0, "enabled": false, "owner": "ann",
		"title": "Tï", "tags": []any{"b", "a"}, "query": "request", "suffix": "append", "class": "strict", "clicks": "off",
		"starts_at": "2030-01-01T00:00:00Z", "expires_at": "2031-01-01T00:00:00.123456Z", "expired_url": "https://example.com/over",
	} {
		if !reflect.DeepEqual(got[field], want) {
			t.Errorf("%s = %v, want %v", field, got[field], want)
		}
	}
	s.want(404, "GET", "/api/v1/links/all", "")
}

func TestCodesInPaths(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, code := range []string{"a.b~", "café", "日本", "A-_x"} {
		a := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "`+code+`"}`)
		if want := "https://wp.example/" + url.PathEscape(code); a.json["short_url"] != want {
			t.Errorf("short_url = %v, want %v", a.json["short_url"], want)
		}
		location := a.Header().Get("Location")
		if got := s.want(200, "GET", location, "").json["code"]; got != code {
			t.Errorf("GET %s: code = %v, want %v", location, got, code)
		}
		s.want(204, "DELETE", location, "")
		s.want(404, "DELETE", location, "")
	}
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "cafe\u0301"}`)
	s.want(200, "GET", "/api/v1/links/caf%C3%A9", "")
	s.want(200, "GET", "/api/v1/links/cafe%CC%81", "")
	for _, code := range []string{"a%2Fb", "%00", "%ff", "%FF%FE", "..%2f", "%2e", "api", strings.Repeat("x", 2000), "a%20b"} {
		s.want(404, "GET", "/api/v1/links/"+code, "")
	}
}

func TestPatchChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "p", "title": "old", "status": 307, "tags": ["x"], "expires_at": "2040-01-01T00:00:00Z"}`)
	for _, step := range []struct {
		patch string
		want  map[string]any
	}{
		{`{}`, map[string]any{"title": "old", "status": 307.0}},
		{`{"title": "new"}`, map[string]any{"title": "new", "status": 307.0, "expires_at": "2040-01-01T00:00:00Z"}},
		{`{"status": null, "tags": null}`, map[string]any{"title": "new", "status": 302.0, "tags": []any{}}},
		{`{"expires_at": null}`, map[string]any{"expires_at": nil}},
		{`{"enabled": false, "clicks": "off", "title": null}`, map[string]any{"enabled": false, "clicks": "off", "title": ""}},
		{`{"enabled": null, "max_clicks": null, "ttl_seconds": null}`, map[string]any{"enabled": true, "max_clicks": nil, "clicks": "off"}},
		{`{"expires_at": "2001-01-01T00:00:00Z"}`, map[string]any{"expires_at": "2001-01-01T00:00:00Z"}},
	} {
		got := s.want(200, "PATCH", "/api/v1/links/p", step.patch, header("Content-Type", "application/merge-patch+json"))
		for field, want := range step.want {
			if !reflect.DeepEqual(got.json[field], want) {
				t.Errorf("after %s: %s = %v, want %v", step.patch, field, got.json[field], want)
			}
		}
	}
}

func TestTTLCountsFromNow(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "ttl_seconds": 3600}`)
	created, _ := time.Parse(time.RFC3339, a.json["created_at"].(string))
	expires, _ := time.Parse(time.RFC3339, a.json["expires_at"].(string))
	if got := expires.Sub(created); got != time.Hour {
		t.Errorf("expires %v after creation, want 1h", got)
	}
}

func TestChangesUnderCondition(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	tag := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "c"}`).Header().Get("ETag")
	s.want(304, "GET", "/api/v1/links/c", "", header("If-None-Match", "W/"+tag))
	next := s.want(200, "PATCH", "/api/v1/links/c", `{"title": "1"}`, header("If-Match", `"9.9", `+tag)).Header().Get("ETag")
	if next == tag {
		t.Fatalf("ETag stayed %s after a change", tag)
	}
	s.want(200, "GET", "/api/v1/links/c", "", header("If-None-Match", tag))
	for _, stale := range []string{tag, "W/" + next, `"x"`, "x", `"2.1"`} {
		s.want(412, "PATCH", "/api/v1/links/c", `{"title": "2"}`, header("If-Match", stale))
		s.want(412, "DELETE", "/api/v1/links/c", "", header("If-Match", stale))
	}
	s.want(200, "PATCH", "/api/v1/links/c", `{"title": "3"}`, header("If-Match", "*"))
	s.want(204, "DELETE", "/api/v1/links/c", "")
}

func TestFiftyParallelCreatesOfOneAliasMakeOneLink(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	statuses := make([]int, 50)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			statuses[i] = s.do("POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "one"}`).Code
		})
	}
	all.Wait()
	slices.Sort(statuses)
	want := append([]int{201}, slices.Repeat([]int{409}, 49)...)
	if !slices.Equal(statuses, want) {
		t.Errorf("statuses = %v, want one 201 and 49 409", statuses)
	}
}

func TestParallelChangesOfDifferentFieldsAllStay(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "busy"}`)
	changes := map[string]any{
		"target": "https://example.com/new", "status": 308.0, "enabled": false, "title": "t", "query": "append", "suffix": "append",
		"class": "strict", "clicks": "off", "expired_url": "https://example.com/over", "owner": "ann", "expires_at": "2040-01-01T00:00:00Z",
	}
	statuses := make(chan int, len(changes))
	var all sync.WaitGroup
	for field, value := range changes {
		body, err := json.Marshal(map[string]any{field: value})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { statuses <- s.do("PATCH", "/api/v1/links/busy", string(body)).Code })
	}
	all.Wait()
	close(statuses)
	for status := range statuses {
		if status != 200 {
			t.Errorf("status %d, want 200", status)
		}
	}
	got := s.want(200, "GET", "/api/v1/links/busy", "")
	for field, want := range changes {
		if got.json[field] != want {
			t.Errorf("%s = %v, want %v", field, got.json[field], want)
		}
	}
	if want := float64(1 + len(changes)); got.json["version"] != want {
		t.Errorf("version = %v, want %v: one a change", got.json["version"], want)
	}
}

func TestReuseFindsTheSameLink(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const body = `{"target": "https://example.com/same", "reuse": true}`
	codes := make([]any, 20)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() { codes[i] = s.do("POST", "/api/v1/links", body).json["code"] })
	}
	all.Wait()
	for _, code := range codes {
		if code != codes[0] || code == nil {
			t.Fatalf("codes = %v, want one", codes)
		}
	}
	waits := s.barrier.len()
	again := s.want(200, "POST", "/api/v1/links", body)
	if got := again.Header().Get("Location"); got != "/api/v1/links/"+codes[0].(string) {
		t.Errorf("Location = %q", got)
	}
	if got := again.Header().Get("Waypost-Propagation"); !strings.HasPrefix(got, "ack=edges, edges=3, acked=2") || s.barrier.len() != waits+1 {
		t.Errorf("found: receipt %q after %d waits, want edges to be waited for", got, s.barrier.len()-waits)
	}
	for _, other := range []string{
		`{"target": "https://example.com/same", "reuse": true, "owner": "ann"}`,
		`{"target": "https://example.com/same", "reuse": true, "alias": "mine"}`,
		`{"target": "https://example.com/same", "reuse": true, "ttl_seconds": 60}`,
		`{"target": "https://example.com/same", "reuse": true, "starts_at": "2040-01-01T00:00:00Z"}`,
		`{"target": "https://example.com/same", "reuse": true, "status": 301}`,
		`{"target": "https://example.com/same", "reuse": true, "enabled": false}`,
		`{"target": "https://example.com/same", "reuse": true, "domain": "` + domain + `"}`,
	} {
		s.want(201, "POST", "/api/v1/links", other)
	}
	s.want(204, "DELETE", "/api/v1/links/"+codes[0].(string), "")
	fresh := s.want(201, "POST", "/api/v1/links", body)
	if fresh.json["code"] == codes[0] {
		t.Errorf("the code of the deleted link was used again: %v", codes[0])
	}
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/same", "reuse": false}`)
}

func TestAliasOfADeletedLinkIsFreeToItsOwnerAndAdmins(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ann, bob := s.key("ann", "links:write"), s.key("bob", "links:write")
	const body = `{"target": "https://example.com/", "alias": "x"}`
	first := s.want(201, "POST", "/api/v1/links", body, bearer(ann))
	if first.json["owner"] != "ann" {
		t.Errorf("owner = %v, want that of the key", first.json["owner"])
	}
	s.want(204, "DELETE", "/api/v1/links/x", "", bearer(ann))
	s.want(409, "POST", "/api/v1/links", body, bearer(bob))
	again := s.want(201, "POST", "/api/v1/links", body, bearer(ann))
	if again.json["version"].(float64) <= first.json["version"].(float64) {
		t.Errorf("version %v after %v, want it to go on", again.json["version"], first.json["version"])
	}
	s.want(204, "DELETE", "/api/v1/links/x", "", bearer(ann))
	s.want(201, "POST", "/api/v1/links", body)
}

func TestConfinedKeySeesOnlyItsOwnersLinks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ann := s.key("ann", "links:write", "links:read")
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "bobs", "owner": "bob"}`)
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "anns", "owner": "ann"}`)
	s.want(404, "GET", "/api/v1/links/bobs", "", bearer(ann))
	s.want(404, "PATCH", "/api/v1/links/bobs", `{"title": "mine"}`, bearer(ann))
	s.want(404, "DELETE", "/api/v1/links/bobs", "", bearer(ann))
	s.want(403, "POST", "/api/v1/links", `{"target": "https://example.com/", "owner": "bob"}`, bearer(ann))
	s.want(403, "PATCH", "/api/v1/links/anns", `{"owner": "bob"}`, bearer(ann))
	s.want(200, "PATCH", "/api/v1/links/anns", `{"owner": null, "title": "mine"}`, bearer(ann))
	for _, query := range []string{"", "?owner=ann"} {
		if items := s.want(200, "GET", "/api/v1/links"+query, "", bearer(ann)).json["items"].([]any); len(items) != 1 {
			t.Errorf("list%s has %d links, want 1", query, len(items))
		}
	}
	if items := s.want(200, "GET", "/api/v1/links?owner=bob", "", bearer(ann)).json["items"].([]any); len(items) != 0 {
		t.Errorf("list of bob's links has %d, want none", len(items))
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var want []string
	for _, code := range []string{"a", "b", "c", "d", "e"} {
		s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/`+code+`", "alias": "`+code+`", "tags": ["t"], "title": "100%"}`)
		want = append([]string{code}, want...)
	}
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "other", "domain": "`+domain+`"}`)
	got := s.codes("/api/v1/links?domain=&limit=2&tag=t&q=0%25")
	if !slices.Equal(got, want) {
		t.Errorf("pages = %v, want %v", got, want)
	}
	slices.Reverse(want)
	if got := s.codes("/api/v1/links?domain=&limit=2&sort=created_at"); !slices.Equal(got, want) {
		t.Errorf("pages = %v, want %v", got, want)
	}
	if got := s.codes("/api/v1/links?domain=" + domain); !slices.Equal(got, []string{"other"}) {
		t.Errorf("pages of the domain = %v, want [other]", got)
	}
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=101": "limit", "limit=x": "limit", "limit=99999999999999999999": "limit",
		"sort=x": "sort", "cursor=x": "cursor", "cursor=%00": "cursor", "q=%00": "q", "q=%ff": "q", "tag=%0a": "tag",
		"owner=%00": "owner", "domain=%00": "domain", "q=" + strings.Repeat("x", 300): "q",
	} {
		if fields := s.want(422, "GET", "/api/v1/links?"+query, "").fields(); !slices.Equal(fields, []string{field}) {
			t.Errorf("%s: fields = %v, want %s", query, fields, field)
		}
	}
}

// codes follows the cursors of a list.
func (s *server) codes(path string) []string {
	s.t.Helper()
	var codes []string
	next := path
	for {
		a := s.want(200, "GET", next, "")
		for _, item := range a.json["items"].([]any) {
			codes = append(codes, item.(map[string]any)["code"].(string))
		}
		cursor, _ := a.json["next_cursor"].(string)
		if cursor == "" {
			return codes
		}
		next = path + "&cursor=" + url.QueryEscape(cursor)
	}
}

func TestBulkItemsStandAlone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.want(200, "POST", "/api/v1/links/bulk", `{"items": [
		{"target": "https://example.com/1", "alias": "b1"},
		{"target": "nonsense"},
		{"target": "https://example.com/1", "alias": "b1"},
		7,
		{"target": "https://example.com/2", "colour": "red"},
		{"target": "https://example.com/3", "code_kind": "counter"}]}`)
	var statuses []int
	for _, r := range a.json["results"].([]any) {
		result := r.(map[string]any)
		status := int(result["status"].(float64))
		statuses = append(statuses, status)
		_, ok := result["link"]
		_, failed := result["error"]
		if ok != (status < 400) || failed == ok {
			t.Errorf("result = %v, want a link or an error", result)
		}
	}
	if want := []int{201, 422, 409, 422, 422, 201}; !slices.Equal(statuses, want) {
		t.Errorf("statuses = %v, want %v", statuses, want)
	}
	for _, body := range []string{
		`{"items": []}`, `{}`, `{"items": null}`, `{"items": {}}`, `{"items": [` + strings.Repeat("1,", 1000) + `1]}`,
	} {
		if fields := s.want(422, "POST", "/api/v1/links/bulk", body).fields(); !slices.Equal(fields, []string{"items"}) {
			t.Errorf("%.40s: fields = %v, want items", body, fields)
		}
	}
}

func TestAThousandLinksInOneCall(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	item := `{"target": "https://example.com/"}`
	a := s.want(200, "POST", "/api/v1/links/bulk", `{"items": [`+strings.Repeat(item+",", 999)+item+`]}`)
	codes := make(map[any]bool)
	for _, r := range a.json["results"].([]any) {
		codes[r.(map[string]any)["link"].(map[string]any)["code"]] = true
	}
	if len(codes) != 1000 {
		t.Errorf("made %d codes, want 1000", len(codes))
	}
	if s.published.len() != 1000 {
		t.Errorf("published %d changes, want 1000", s.published.len())
	}
}

func TestEveryWriteWaitsForWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	waits := 0
	for i, ack := range []string{"", "?ack=edges", "?ack=commit"} {
		x := "x" + strconv.Itoa(i)
		want := "ack=edges, edges=3, acked=2, ms="
		if ack == "?ack=commit" {
			want = "ack=commit, edges=0, acked=0, ms="
		}
		for _, call := range []struct {
			status             int
			method, path, body string
		}{
			{201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "` + x + `"}`},
			{200, "POST", "/api/v1/links/bulk", `{"items": [{"target": "https://example.com/"}, {"target": "https://example.com/"}]}`},
			{200, "PATCH", "/api/v1/links/" + x, `{"title": "t"}`},
			{200, "POST", "/api/v1/purge", `{"codes": ["` + x + `"]}`},
			{204, "DELETE", "/api/v1/links/" + x, ""},
		} {
			if ack != "?ack=commit" {
				waits++
			}
			got := s.want(call.status, call.method, call.path+ack, call.body).Header().Get("Waypost-Propagation")
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s %s%s: Waypost-Propagation = %q, want %s", call.method, call.path, ack, got, want)
			}
			if s.barrier.len() != waits {
				t.Fatalf("%s %s%s: %d waits by now, want %d", call.method, call.path, ack, s.barrier.len(), waits)
			}
		}
	}
}

func TestAWaitThatThereIsNotIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, call := range []struct{ method, path, body string }{
		{"POST", "/api/v1/links", `{"target": "https://example.com/"}`},
		{"POST", "/api/v1/links/bulk", `{"items": [{"target": "https://example.com/"}]}`},
		{"PATCH", "/api/v1/links/x", `{}`},
		{"DELETE", "/api/v1/links/x", ""},
		{"POST", "/api/v1/purge", `{"all": true}`},
	} {
		if fields := s.want(422, call.method, call.path+"?ack=maybe", call.body).fields(); !slices.Equal(fields, []string{"ack"}) {
			t.Errorf("%s %s?ack=maybe: fields = %v, want ack", call.method, call.path, fields)
		}
	}
	if s.published.len() != 0 {
		t.Errorf("published %d changes, want none", s.published.len())
	}
}

func TestNothingChangesThatWasRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	before := s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/", "alias": "k"}`)
	for _, field := range []string{
		`"alias": "z"`, `"domain": ""`, `"code_kind": "random"`, `"reuse": true`, `"code": "z"`, `"short_url": "x"`,
		`"created_at": "2030-01-01T00:00:00Z"`, `"updated_at": null`, `"version": 1`, `"qr_url": null`,
	} {
		name := strings.Trim(strings.Split(field, ":")[0], `"`)
		if fields := s.want(422, "PATCH", "/api/v1/links/k", `{"title": "t", `+field+`}`).fields(); !slices.Equal(fields, []string{name}) {
			t.Errorf("%s: fields = %v, want %s", field, fields, name)
		}
	}
	after := s.want(200, "GET", "/api/v1/links/k", "")
	if !reflect.DeepEqual(before.json, after.json) {
		t.Errorf("link = %v, want it unchanged %v", after.json, before.json)
	}
}
