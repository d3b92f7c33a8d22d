package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"waypost/deploy/services"
)

// keyFor makes an API key that may write links.
func (o *running) keyFor(body string) string {
	o.t.Helper()
	status, answer := o.call("POST", o.public+"/api/v1/keys", body, o.adminKey())
	var made struct{ Key string }
	if err := json.Unmarshal(answer, &made); status != 201 || err != nil {
		o.t.Fatalf("make a key: %d %s %v", status, answer, err)
	}
	return made.Key
}

// creates counts the links that so many calls make.
func (o *running) creates(calls int, key string) (made int) {
	o.t.Helper()
	for range calls {
		switch status, answer := o.call("POST", o.public+"/api/v1/links", `{"target": "https://example.com/"}`, key); status {
		case 201:
			made++
		case 429:
		default:
			o.t.Fatalf("create: %d %s", status, answer)
		}
	}
	return made
}

func TestKeysAreLimitedAtAllOriginsTogetherAndWithoutRedisAtEach(t *testing.T) {
	t.Parallel()
	redis := services.Redis(t)
	env := map[string]string{
		"WAYPOST_DATABASE_URL": services.Postgres(t), "WAYPOST_REDIS_URL": redis.URL(),
		"WAYPOST_LIMIT_CREATE_RATE": "0.01", "WAYPOST_LIMIT_CREATE_BURST": "4",
	}
	first := start(t, env)
	first.awaitReady()
	env["WAYPOST_ADMIN_KEY_FILE"] = first.keyFile
	second := start(t, env)
	second.awaitReady()
	key := first.keyFor(`{"scopes": ["links:write"]}`)
	if a, b := first.creates(3, key), second.creates(3, key); a != 3 || b != 1 {
		t.Errorf("%d and %d links, want 3 and the fourth", a, b)
	}
	if got := second.creates(7, first.keyFor(`{"scopes": ["links:write"], "create_burst": 6}`)); got != 6 {
		t.Errorf("a key with a burst of its own made %d links, want 6", got)
	}
	if got := first.creates(6, first.adminKey()); got != 6 {
		t.Errorf("an admin key made %d links, want all 6", got)
	}
	_, metrics := second.call("GET", second.ops+"/metrics", "", "")
	for _, want := range []string{`waypost_create_tokens_total{outcome="given"} 7`, `waypost_create_tokens_total{outcome="refused"} 3`, `waypost_create_limits_alone_total 0`} {
		if !bytes.Contains(metrics, []byte(want)) {
			t.Errorf("metrics lack %s", want)
		}
	}
	key = first.keyFor(`{"scopes": ["links:write"]}`)
	redis.Kill()
	if a, b := first.creates(6, key), second.creates(6, key); a != 4 || b != 4 {
		t.Errorf("without Redis %d and %d links, want 4 at each", a, b)
	}
}

func TestPagesOfConfiguredOriginsMayAsk(t *testing.T) {
	t.Parallel()
	o := start(t, map[string]string{
		"WAYPOST_DATABASE_URL": services.Postgres(t), "WAYPOST_CORS_ORIGINS": "https://one.example, https://two.example",
	})
	o.awaitReady()
	for origin, allowed := range map[string]bool{"https://one.example": true, "https://two.example": true, "https://three.example": false} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, o.public+"/api/v1/links", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		got := resp.Header.Get("Access-Control-Allow-Origin")
		if resp.StatusCode != 204 || (got == origin) != allowed || strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "POST") != allowed {
			t.Errorf("%s: %d, allowed origin %q, methods %q", origin, resp.StatusCode, got, resp.Header.Get("Access-Control-Allow-Methods"))
		}
	}
}
