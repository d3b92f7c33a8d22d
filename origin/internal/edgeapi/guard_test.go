package edgeapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestOnlyTheSecretLetsIn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		secret        string
		allowAnyone   bool
		authorization string
		want          int
	}{
		{"right", secret, false, "Bearer " + secret, http.StatusOK},
		{"scheme in another case", secret, false, "bearer " + secret, http.StatusOK},
		{"wrong", secret, false, "Bearer other", http.StatusUnauthorized},
		{"longer", secret, false, "Bearer " + secret + "x", http.StatusUnauthorized},
		{"shorter", secret, false, "Bearer " + secret[1:], http.StatusUnauthorized},
		{"empty", secret, false, "Bearer ", http.StatusUnauthorized},
		{"none", secret, false, "", http.StatusUnauthorized},
		{"another scheme", secret, false, "Basic " + secret, http.StatusUnauthorized},
		{"secret alone", secret, false, secret, http.StatusUnauthorized},
		{"wrong where anyone may", secret, true, "Bearer other", http.StatusUnauthorized},
		{"no secret, empty bearer", "", false, "Bearer ", http.StatusUnauthorized},
		{"no secret, no header", "", false, "", http.StatusUnauthorized},
		{"no secret and anyone may", "", true, "", http.StatusOK},
		{"no secret and anyone may, with bearer", "", true, "Bearer x", http.StatusOK},
	} {
		f := &fake{t: t, heads: func(context.Context) (*feed.Heads, error) { return &feed.Heads{}, nil }}
		h := New(Config{Secret: tc.secret, AllowAnyone: tc.allowAnyone, Logger: slog.New(slog.DiscardHandler)}, f.rooms())
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/heads", nil)
		if tc.authorization != "" {
			r.Header.Set("Authorization", tc.authorization)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("%s: status %d, want %d", tc.name, w.Code, tc.want)
		}
		if got, want := w.Header().Get("WWW-Authenticate") != "", tc.want == http.StatusUnauthorized; got != want {
			t.Errorf("%s: has WWW-Authenticate = %v, want %v", tc.name, got, want)
		}
	}
}

func TestAPanicIsA500AndOneLineInTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := &fake{t: t, config: func(context.Context) (*feed.Config, error) { panic("boom") }}
	h := newHandler(f, Config{MaxPages: 1, MaxRequests: 1}, &log)
	for range 3 { // what a panicking request held is free again
		log.Reset()
		w := get(t, h, "/v1/config")
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "boom") {
			t.Errorf("status %d, body %q, want 500 without internals", w.Code, w.Body)
		}
		if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "boom") {
			t.Errorf("log = %q, want one line that tells boom", got)
		}
	}
}

func TestMoreThanMaxRequestsAreTurnedAway(t *testing.T) {
	t.Parallel()
	began, hold := make(chan struct{}), make(chan struct{})
	f := &fake{t: t, load: func(_ context.Context, key link.Key, _, _ uint64) (*feed.Entry, error) {
		began <- struct{}{}
		<-hold
		return &feed.Entry{Key: key}, nil
	}}
	h := newHandler(f, Config{MaxRequests: 2}, io.Discard)
	const target = "/v1/fill?code=a&epoch=1&min=1"
	var held sync.WaitGroup
	for range 2 {
		held.Go(func() {
			if w := get(t, h, target); w.Code != http.StatusOK {
				t.Errorf("status %d, want 200", w.Code)
			}
		})
		<-began
	}
	if w := get(t, h, target); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q, want 503 with one", w.Code, w.Header().Get("Retry-After"))
	}
	close(hold)
	held.Wait()
	held.Go(func() { <-began })
	if w := get(t, h, target); w.Code != http.StatusOK {
		t.Errorf("status %d, want 200", w.Code)
	}
	held.Wait()
}

func TestPagesWaitForTheirTurnAndProbesDoNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		var mu sync.Mutex
		running, peak := 0, 0
		f := &fake{
			t: t,
			changes: func(_ context.Context, shard int, _, _ uint64) (*feed.Changes, error) {
				mu.Lock()
				running++
				peak = max(peak, running)
				mu.Unlock()
				<-hold
				mu.Lock()
				running--
				mu.Unlock()
				return &feed.Changes{Shard: shard}, nil
			},
			heads: func(context.Context) (*feed.Heads, error) { return &feed.Heads{}, nil },
		}
		h := newHandler(f, Config{MaxPages: 2}, io.Discard)
		const target = "/v1/changes?shard=1&epoch=1&from=1"
		var pages sync.WaitGroup
		for range 6 {
			pages.Go(func() {
				if w := get(t, h, target); w.Code != http.StatusOK {
					t.Errorf("status %d, want 200", w.Code)
				}
			})
		}
		synctest.Wait()
		if w := get(t, h, "/v1/heads"); w.Code != http.StatusOK {
			t.Errorf("probe: status %d, want 200", w.Code)
		}
		close(hold)
		pages.Wait()
		if peak != 2 {
			t.Errorf("pages at the same time = %d, want 2", peak)
		}
	})
}

func TestAPageWithoutATurnIsUnavailableAtItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		f := &fake{t: t, config: func(context.Context) (*feed.Config, error) {
			<-hold
			return &feed.Config{}, nil
		}}
		h := newHandler(f, Config{MaxPages: 1}, io.Discard)
		var first sync.WaitGroup
		first.Go(func() { get(t, h, "/v1/config") })
		synctest.Wait()
		if w := get(t, h, "/v1/config"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d, want 503", w.Code)
		}
		close(hold)
		first.Wait()
	})
}

func TestAStoreThatHangsIsUnavailableAtTheTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{
			t: t,
			heads: func(ctx context.Context) (*feed.Heads, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			codes: func(ctx context.Context, _ int, _ link.Key) (*feed.Codes, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}
		h := newHandler(f, Config{}, io.Discard)
		for _, target := range []string{"/v1/heads", "/v1/codes?shard=1"} {
			if w := get(t, h, target); w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: status %d, want 503", target, w.Code)
			}
		}
	})
}
