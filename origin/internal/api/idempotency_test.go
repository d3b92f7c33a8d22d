package api_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"waypost/origin/internal/api"
	"waypost/origin/internal/links"
)

func named(name string) func(*http.Request) { return header("Idempotency-Key", name) }

const newLink = `{"target": "https://example.com/?a=1&b=2", "tags": ["x"]}`

func TestARepeatedCreationIsAnsweredAsTheFirstTime(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.want(201, "POST", "/api/v1/links", newLink, named("n"))
	code, _ := first.json["code"].(string)
	s.want(200, "PATCH", "/api/v1/links/"+code, `{"title": "changed"}`)
	waited, told := s.barrier.len(), s.published.len()
	again := s.want(201, "POST", "/api/v1/links", newLink, named("n"))
	if !reflect.DeepEqual(again.json, first.json) {
		t.Errorf("got %v, want %v", again.json, first.json)
	}
	for _, name := range []string{"Location", "ETag"} {
		if got, want := again.Header().Get(name), first.Header().Get(name); got != want || got == "" {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if got := []string{first.Header().Get("Idempotency-Replayed"), again.Header().Get("Idempotency-Replayed")}; !slices.Equal(got, []string{"", "true"}) {
		t.Errorf("Idempotency-Replayed = %q, want it of the second only", got)
	}
	// Its receipt tells of edges as they are now: the first caller may never have heard of them.
	if got := again.Header().Get("Waypost-Propagation"); !strings.HasPrefix(got, "ack=edges, edges=3, acked=2, ms=") || s.barrier.len() != waited+1 {
		t.Errorf("Waypost-Propagation = %q after %d waits, want one more than %d", got, s.barrier.len(), waited)
	}
	if s.published.len() != told {
		t.Errorf("published %d changes, want none", s.published.len()-told)
	}
	s.want(204, "DELETE", "/api/v1/links/"+code, "")
	if got := s.want(201, "POST", "/api/v1/links", newLink, named("n")); !reflect.DeepEqual(got.json, first.json) {
		t.Errorf("once deleted: %v, want %v", got.json, first.json)
	}
}

func TestParallelCreationsOfOneName(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	answers := make([]answer, 20)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = s.do("POST", "/api/v1/links", newLink, named("n")) })
	}
	wg.Wait()
	for _, a := range answers {
		if a.Code != 201 || !reflect.DeepEqual(a.json, answers[0].json) || a.Header().Get("ETag") != answers[0].Header().Get("ETag") {
			t.Errorf("got %d %s, want %s", a.Code, a.Body, answers[0].Body)
		}
	}
	if items, _ := s.want(200, "GET", "/api/v1/links", "").json["items"].([]any); len(items) != 1 {
		t.Errorf("%d links, want 1", len(items))
	}
}

func TestAnIdempotencyKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	writer := s.key("", links.ScopeLinksWrite)
	s.want(201, "POST", "/api/v1/links", newLink, named("n"))
	for what, other := range map[string]answer{
		"body":  s.do("POST", "/api/v1/links", newLink+" ", named("n")),
		"query": s.do("POST", "/api/v1/links?ack=commit", newLink, named("n")),
		"path":  s.do("POST", "/api/v1/links/bulk", `{"items": [`+newLink+`]}`, named("n")),
	} {
		other.wantProblem(t)
		if other.Code != 422 || !slices.Equal(other.fields(), []string{"Idempotency-Key"}) {
			t.Errorf("another %s: %d %v, want 422 of Idempotency-Key", what, other.Code, other.fields())
		}
	}
	if a := s.want(201, "POST", "/api/v1/links", newLink, named("n"), bearer(writer)); a.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("another API key: %s, want a link of its own", a.Body)
	}
	if items, _ := s.want(200, "GET", "/api/v1/links", "").json["items"].([]any); len(items) != 2 {
		t.Errorf("%d links, want 2", len(items))
	}
}

func TestIdempotencyKeysThatAreNone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	twice := func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} }
	for name, option := range map[string]func(*http.Request){
		"empty": named(""), "long": named(strings.Repeat("x", 256)), "space": named("a b"), "control": named("a\x7f"),
		"Unicode": named("é"), "two": twice,
	} {
		for path, body := range map[string]string{"/api/v1/links": newLink, "/api/v1/links/bulk": `{"items": [` + newLink + `]}`} {
			if a := s.want(422, "POST", path, body, option); !slices.Equal(a.fields(), []string{"Idempotency-Key"}) {
				t.Errorf("%s: %s, want a fault of Idempotency-Key", name, a.Body)
			} else if name != "two" && !strings.Contains(a.Body.String(), "must have 1 to 255 visible ASCII characters") {
				t.Errorf("%s: %s, want it to say what such a key has", name, a.Body)
			}
		}
	}
	s.want(201, "POST", "/api/v1/links", newLink, named(strings.Repeat("~", 255)))
	s.want(201, "POST", "/api/v1/links", newLink, named("!"))
}

func TestAFailedCreationMayBeTriedAgainUnderItsName(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.want(422, "POST", "/api/v1/links", `{"target": "ftp://example.com/"}`, named("n"))
	s.want(201, "POST", "/api/v1/links", newLink, named("n"))

	aliased := `{"target": "https://example.com/", "alias": "wanted"}`
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/other", "alias": "wanted"}`)
	s.want(409, "POST", "/api/v1/links", aliased, named("m"))
	s.want(409, "POST", "/api/v1/links", aliased, named("m"))
	s.want(204, "DELETE", "/api/v1/links/wanted", "")
	made := s.want(201, "POST", "/api/v1/links", aliased, named("m"))
	again := s.want(201, "POST", "/api/v1/links", aliased, named("m"))
	if !reflect.DeepEqual(again.json, made.json) {
		t.Errorf("got %v, want %v", again.json, made.json)
	}
	s.want(409, "POST", "/api/v1/links", aliased, named("other"))
}

func TestAReusedLinkIsAnsweredAgainWith200(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	reuse := `{"target": "https://example.com/", "reuse": true}`
	s.want(201, "POST", "/api/v1/links", reuse)
	found := s.want(200, "POST", "/api/v1/links", reuse, named("n"))
	code, _ := found.json["code"].(string)
	s.want(204, "DELETE", "/api/v1/links/"+code, "")
	again := s.want(200, "POST", "/api/v1/links", reuse, named("n"))
	if !reflect.DeepEqual(again.json, found.json) || again.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %v, want %v", again.json, found.json)
	}
}

// purse gives tokens as long as it has any.
type purse struct{ tokens int }

func (p *purse) Take(_ context.Context, _ string, _ links.Allowance, asked int) links.Grant {
	given := min(asked, p.tokens)
	p.tokens -= given
	return links.Grant{Tokens: given, Left: p.tokens, Wait: time.Second}
}

func TestABulkBeyondTheBurstGetsDoneByBeingSentAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	tokens := &purse{}
	s.rebuild(func(c *api.Config) { c.Limiter, c.Creates = tokens, links.Allowance{Rate: 1, Burst: 2} })
	writer := bearer(s.key("", links.ScopeLinksWrite))
	body := `{"items": [` + strings.Join(slices.Repeat([]string{newLink}, 5), ",") + `]}`
	for _, want := range []int{2, 4, 5} {
		tokens.tokens = 2
		a := s.want(200, "POST", "/api/v1/links/bulk", body, named("n"), writer)
		made := 0
		results, _ := a.json["results"].([]any)
		for i, r := range results {
			status := r.(map[string]any)["status"]
			if status == 201.0 {
				made++
			}
			if ok := i < want; ok != (status == 201.0) || !ok && status != 429.0 {
				t.Errorf("item %d of %d that can be done: status %v", i, want, status)
			}
		}
		if made != want {
			t.Errorf("%d links, want %d", made, want)
		}
	}
	tokens.tokens = 0
	a := s.want(200, "POST", "/api/v1/links/bulk", body, named("n"), writer)
	if a.Header().Get("Idempotency-Replayed") != "true" || a.Header().Get("RateLimit") == "" {
		t.Errorf("headers %v, want it answered again and told the allowance", a.Header())
	}
}

func TestARepeatedBulkMakesNoLinkTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	items := make([]string, 50)
	for i := range items {
		items[i] = fmt.Sprintf(`{"target": "https://example.com/%d"}`, i)
	}
	items[7] = `{"target": "ftp://example.com/"}`
	items[9] = `{"target": "https://example.com/", "alias": "wanted"}`
	body := `{"items": [` + strings.Join(items, ",") + `]}`
	s.want(201, "POST", "/api/v1/links", `{"target": "https://example.com/other", "alias": "wanted"}`)
	results := func(a answer) []any {
		all, _ := a.json["results"].([]any)
		if len(all) != len(items) {
			t.Fatalf("%d results, want %d", len(all), len(items))
		}
		return all
	}
	first := s.want(200, "POST", "/api/v1/links/bulk", body, named("n"))
	second := s.want(200, "POST", "/api/v1/links/bulk", body, named("n"))
	if !reflect.DeepEqual(results(second), results(first)) {
		t.Errorf("got\n%v, want\n%v", second.json, first.json)
	}
	if got := []string{first.Header().Get("Idempotency-Replayed"), second.Header().Get("Idempotency-Replayed")}; !slices.Equal(got, []string{"", "true"}) {
		t.Errorf("Idempotency-Replayed = %q, want it of the second only", got)
	}
	// What failed is tried again, and the rest stays as it was.
	s.want(204, "DELETE", "/api/v1/links/wanted", "")
	third := s.want(200, "POST", "/api/v1/links/bulk", body, named("n"))
	if third.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("Idempotency-Replayed = %q of a call that made a link", third.Header().Get("Idempotency-Replayed"))
	}
	for i, r := range results(third) {
		want := results(first)[i]
		status := r.(map[string]any)["status"]
		switch {
		case i == 9 && status != 201.0:
			t.Errorf("item 9: %v, want it made now", r)
		case i != 9 && !reflect.DeepEqual(r, want):
			t.Errorf("item %d: %v, want %v", i, r, want)
		}
	}
	s.want(422, "POST", "/api/v1/links/bulk", `{"items": [`+strings.Join(items[1:], ",")+`]}`, named("n"))
}
