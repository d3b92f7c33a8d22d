package api_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
	"waypost/origin/internal/api"
	"waypost/origin/internal/limit"
	"waypost/origin/internal/links"
)

// few is an allowance that does not refill while a test runs.
var few = links.Allowance{Rate: links.MinCreateRate, Burst: 5}

// limited makes the API one that limits keys by what is in the Redis at addr, and
// by itself where there is none.
func (s *server) limited(addr string, a links.Allowance) {
	s.t.Helper()
	cfg := limit.Config{Prefix: "wp", Timeout: time.Minute}
	if addr != "" {
		client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1})
		s.t.Cleanup(func() { _ = client.Close() })
		cfg.Redis = client
	}
	s.rebuild(func(c *api.Config) { c.Limiter, c.Creates = limit.New(cfg), a })
}

const oneLink = `{"target": "https://example.com/"}`

func bulkOf(n int) string {
	return `{"items": [` + strings.TrimSuffix(strings.Repeat(oneLink+",", n), ",") + `]}`
}

// left is r of the RateLimit header, after a look at the form of both headers.
func (a answer) left(t *testing.T, allowance links.Allowance) int {
	t.Helper()
	window := int(float64(allowance.Burst) / allowance.Rate)
	if got, want := a.Header().Get("RateLimit-Policy"), fmt.Sprintf(`"create";q=%d;w=%d`, allowance.Burst, window); got != want {
		t.Errorf("RateLimit-Policy = %q, want %q", got, want)
	}
	found := regexp.MustCompile(`^"create";r=(\d+);t=([1-9]\d*)$`).FindStringSubmatch(a.Header().Get("RateLimit"))
	if found == nil {
		t.Fatalf("RateLimit = %q", a.Header().Get("RateLimit"))
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

func TestCreationsTakeTokensOfTheKey(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.limited(services.Redis(t).Addr(), few)
	key := bearer(s.key("", "links:read", "links:write"))
	for n, c := range []struct {
		status int
		body   string
	}{
		{201, `{"target": "https://example.com/", "reuse": true}`},
		{200, `{"target": "https://example.com/", "reuse": true}`},
		{422, `{}`},
		{201, `{"target": "https://example.com/", "alias": "a"}`},
		{409, `{"target": "https://example.com/", "alias": "a"}`},
	} {
		a := s.want(c.status, "POST", "/api/v1/links", c.body, key)
		if got, want := a.left(t, few), few.Burst-n-1; got != want {
			t.Errorf("%s: %d tokens left, want %d", c.body, got, want)
		}
	}
	a := s.want(429, "POST", "/api/v1/links", oneLink, key)
	wait, err := strconv.Atoi(a.Header().Get("Retry-After"))
	if a.left(t, few) != 0 || err != nil || wait < 90 || wait > 100 || !strings.HasSuffix(a.Header().Get("RateLimit"), ";t="+strconv.Itoa(wait)) {
		t.Errorf("Retry-After = %q, RateLimit = %q, want some 100 s until one comes", a.Header().Get("Retry-After"), a.Header().Get("RateLimit"))
	}
	s.want(429, "POST", "/api/v1/links/bulk", bulkOf(1), key)
	s.want(201, "POST", "/api/v1/links", oneLink, bearer(s.key("", "links:write")))
	// What is no creation takes none.
	for _, call := range [][3]string{{"GET", "/api/v1/links", ""}, {"PATCH", "/api/v1/links/a", `{}`}, {"DELETE", "/api/v1/links/a", ""}} {
		if a := s.do(call[0], call[1], call[2], key); a.Code >= 300 || a.Header().Get("RateLimit") != "" {
			t.Errorf("%s %s: %d, RateLimit %q", call[0], call[1], a.Code, a.Header().Get("RateLimit"))
		}
	}
}

func TestItemsOfABulkBeyondTheTokensFailAlone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.limited(services.Redis(t).Addr(), few)
	key := bearer(s.key("", "links:write"))
	s.want(422, "POST", "/api/v1/links/bulk", `{"items": []}`, key)
	a := s.want(200, "POST", "/api/v1/links/bulk", `{"items": [`+oneLink+`, {}, `+strings.TrimPrefix(bulkOf(6), `{"items": [`), key)
	if got := a.left(t, few); got != 0 {
		t.Errorf("%d tokens left, want 0", got)
	}
	var got []int
	for _, r := range a.json["results"].([]any) {
		result, _ := r.(map[string]any)
		status, _ := result["status"].(float64)
		problem, _ := result["error"].(map[string]any)
		if (status == 429) != (problem["status"] == float64(429)) {
			t.Errorf("result %v, want the problem in it", result)
		}
		got = append(got, int(status))
	}
	if want := "[201 422 201 201 201 429 429 429]"; fmt.Sprint(got) != want {
		t.Errorf("results = %v, want %s", got, want)
	}
	if a := s.want(429, "POST", "/api/v1/links/bulk", bulkOf(3), key); a.Header().Get("Retry-After") == "" || a.left(t, few) != 0 {
		t.Errorf("a bulk of which nothing passes: Retry-After %q", a.Header().Get("Retry-After"))
	}
	if got := len(s.want(200, "GET", "/api/v1/links?limit=100", "").json["items"].([]any)); got != 4 {
		t.Errorf("%d links, want the 4 that passed", got)
	}
}

func TestWhatIsAnsweredAgainTakesNoToken(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.limited(services.Redis(t).Addr(), few)
	key, once := bearer(s.key("", "links:write")), header("Idempotency-Key", "once")
	for range 2 * few.Burst {
		a := s.want(201, "POST", "/api/v1/links", oneLink, key, once)
		if got := a.left(t, few); got != few.Burst-1 {
			t.Fatalf("%d tokens left, want %d", got, few.Burst-1)
		}
	}
	s.want(200, "POST", "/api/v1/links/bulk", bulkOf(few.Burst-1), key)
	if a := s.want(201, "POST", "/api/v1/links", oneLink, key, once); a.Header().Get("Idempotency-Replayed") != "true" || a.left(t, few) != 0 {
		t.Errorf("answered again without a token: %v", a.Header())
	}
}

func TestAdminKeysAreNotLimited(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.limited("", few)
	for range 2 * few.Burst {
		if a := s.want(201, "POST", "/api/v1/links", oneLink); a.Header().Get("RateLimit") != "" || a.Header().Get("RateLimit-Policy") != "" {
			t.Fatalf("RateLimit = %q for an admin key", a.Header().Get("RateLimit"))
		}
	}
	s.want(200, "POST", "/api/v1/links/bulk", bulkOf(2*few.Burst))
}

func TestAKeysOwnAllowanceCountsAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.limited(services.Redis(t).Addr(), few)
	made := s.want(201, "POST", "/api/v1/keys", `{"scopes": ["links:write"], "create_rate": 0.02, "create_burst": 2}`)
	text, _ := made.json["key"].(string)
	key, path := bearer(text), "/api/v1/keys/"+made.json["id"].(string)
	if made.json["create_rate"] != 0.02 || made.json["create_burst"] != float64(2) {
		t.Errorf("made %v", made.json)
	}
	own := links.Allowance{Rate: 0.02, Burst: 2}
	if got := s.want(201, "POST", "/api/v1/links", oneLink, key).left(t, own); got != 1 {
		t.Errorf("%d left, want 1", got)
	}
	s.want(201, "POST", "/api/v1/links", oneLink, key)
	s.want(429, "POST", "/api/v1/links", oneLink, key)
	changed := s.want(200, "PATCH", path, `{"create_burst": 500, "create_rate": 10000, "note": "n"}`)
	if changed.json["create_rate"] != float64(10000) || changed.json["create_burst"] != float64(500) || changed.json["note"] != "n" || changed.json["key"] != nil {
		t.Errorf("changed to %v", changed.json)
	}
	s.await("a token by the new allowance", func() bool { return s.do("POST", "/api/v1/links", oneLink, key).Code == 201 })
	changed = s.want(200, "PATCH", path, `{"create_rate": null}`, header("Content-Type", "application/merge-patch+json"))
	if changed.json["create_rate"] != nil || changed.json["create_burst"] != float64(500) || changed.json["note"] != "n" {
		t.Errorf("changed to %v, want the rate taken back and the rest left", changed.json)
	}
	list := s.want(200, "GET", "/api/v1/keys", "").json["items"].([]any)
	if got := list[len(list)-1].(map[string]any); got["create_rate"] != nil || got["create_burst"] != float64(500) {
		t.Errorf("listed as %v", got)
	}
}

func TestChangesOfKeysAreChecked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := strings.Split(s.key("", "links:write"), "_")[1]
	for body, field := range map[string]string{
		`{"create_rate": 0}`: "create_rate", `{"create_rate": 10000.5}`: "create_rate", `{"create_rate": "1"}`: "create_rate",
		`{"create_rate": 1e400}`: "create_rate", `{"create_rate": true}`: "create_rate", `{"create_rate": -1}`: "create_rate",
		`{"create_burst": 0}`: "create_burst", `{"create_burst": 1.5}`: "create_burst", `{"create_burst": 1000001}`: "create_burst",
		`{"note": 1}`: "note", `{"note": "\u0000"}`: "note", `{"scopes": ["admin"]}`: "scopes", `{"owner": "x"}`: "owner", `{"key": "x"}`: "key",
	} {
		a := s.want(422, "PATCH", "/api/v1/keys/"+id, body)
		if got := a.fields(); len(got) != 1 || got[0] != field {
			t.Errorf("%s: fields = %v, want %s", body, got, field)
		}
	}
	s.want(200, "PATCH", "/api/v1/keys/"+id, `{}`)
	s.want(403, "PATCH", "/api/v1/keys/"+id, `{}`, bearer(s.key("", "links:read", "links:write", "stats:read")))
	s.want(404, "PATCH", "/api/v1/keys/000000000000", `{}`)
	s.want(404, "PATCH", "/api/v1/keys/x", `{}`)
	s.want(204, "DELETE", "/api/v1/keys/"+id, "")
	s.want(404, "PATCH", "/api/v1/keys/"+id, `{"note": "x"}`)
}

func TestOriginsLimitAKeyTogether(t *testing.T) {
	t.Parallel()
	addr := services.Redis(t).Addr()
	allowance := links.Allowance{Rate: links.MinCreateRate, Burst: 20}
	first := newServer(t)
	first.limited(addr, allowance)
	second := *first // another origin on the same database and Redis
	second.limited(addr, allowance)
	key := bearer(first.key("", "links:write"))
	var made, refused atomic.Int64
	var all sync.WaitGroup
	for _, s := range []*server{first, &second} {
		for range 4 {
			all.Go(func() {
				for range 5 {
					switch a := s.do("POST", "/api/v1/links", oneLink, key); a.Code {
					case http.StatusCreated:
						made.Add(1)
					case http.StatusTooManyRequests:
						refused.Add(1)
					default:
						t.Errorf("status %d: %s", a.Code, a.Body)
					}
				}
			})
		}
	}
	all.Wait()
	if made.Load() != 20 || refused.Load() != 20 {
		t.Errorf("%d made, %d refused, want 20 of each", made.Load(), refused.Load())
	}
}

// stubborn grants nothing for a long time.
type stubborn struct{ asked atomic.Int64 }

func (s *stubborn) Take(_ context.Context, _ string, _ links.Allowance, asked int) links.Grant {
	s.asked.Add(int64(asked))
	return links.Grant{Wait: 90*time.Second + time.Millisecond}
}

func TestOnlyKeysWithTheScopeReachTheLimiter(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var limiter stubborn
	s.rebuild(func(c *api.Config) { c.Limiter, c.Creates = &limiter, few })
	s.want(401, "POST", "/api/v1/links", oneLink, anonymous)
	s.want(403, "POST", "/api/v1/links", oneLink, bearer(s.key("", "links:read")))
	s.want(413, "POST", "/api/v1/links", oneLink+strings.Repeat(" ", 1<<20), bearer(s.key("", "links:write")))
	if got := limiter.asked.Load(); got != 0 {
		t.Errorf("asked for %d tokens, want none", got)
	}
	a := s.want(429, "POST", "/api/v1/links", oneLink, bearer(s.key("", "links:write")))
	if got := a.Header().Get("Retry-After"); got != "91" {
		t.Errorf("Retry-After = %q, want 91: rounded up", got)
	}
}
