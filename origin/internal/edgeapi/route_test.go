package edgeapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestEachCallHandsItsParametersOnAndTheAnswerBack(t *testing.T) {
	t.Parallel()
	entry := &feed.Entry{
		Epoch: 3, AsOf: 9, Version: 8, Key: link.Key{Domain: "go.example", Code: "café"},
		Body: feed.Body{State: feed.Enabled, LinkID: 1, Status: 302, Target: "https://example.com/"},
	}
	heads := &feed.Heads{Epoch: 3, Now: 17, Seq: [feed.AllShards]uint64{1, 2, 3}}
	salted := *heads // of which whoever looks on is told no salt
	salted.Salts = []feed.Salt{{Day: 1}}
	changes := &feed.Changes{Epoch: 3, Shard: 64, Head: 6, Rows: []*feed.Change{
		{Epoch: 3, Shard: 64, Seq: 6, Kind: feed.Changed, Key: link.Key{Code: "domain/go.example"}, Value: "{}"},
	}}
	codes := &feed.Codes{Epoch: 3, Head: 6, Hashes: []uint64{5}, Last: link.Key{Code: "z"}, More: true}
	config := feed.NewConfig(3, 4, map[string]string{"domain/go.example": `{"host":"go.example"}`})
	var asked []any
	f := &fake{
		t: t,
		load: func(_ context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error) {
			asked = []any{key, epoch, minSeq}
			return entry, nil
		},
		heads: func(context.Context) (*feed.Heads, error) {
			asked = nil
			return &salted, nil
		},
		changes: func(_ context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
			asked = []any{shard, epoch, from}
			return changes, nil
		},
		codes: func(_ context.Context, shard int, after link.Key) (*feed.Codes, error) {
			asked = []any{shard, after}
			return codes, nil
		},
		config: func(context.Context) (*feed.Config, error) {
			asked = nil
			return config, nil
		},
	}
	h := newHandler(f, Config{}, io.Discard)
	for _, tc := range []struct {
		target string
		asked  []any
		parse  func(b []byte) (any, error)
		want   any
		octets bool
	}{
		{
			"/v1/fill?domain=go.example&code=caf%C3%A9&epoch=3&min=7",
			[]any{entry.Key, uint64(3), uint64(7)},
			func(b []byte) (any, error) { return feed.ParseEntry(b) }, entry, true,
		},
		{
			"/v1/fill?code=" + strings.Repeat("x", 256) + "&epoch=9223372036854775807&min=0&newer=1",
			[]any{link.Key{Code: strings.Repeat("x", 256)}, uint64(1<<63 - 1), uint64(0)},
			func(b []byte) (any, error) { return feed.ParseEntry(b) }, entry, true,
		},
		{"/v1/heads", nil, func(b []byte) (any, error) { return feed.ParseHeads(b) }, heads, true},
		{
			"/v1/changes?shard=64&epoch=3&from=5",
			[]any{64, uint64(3), uint64(5)},
			func(b []byte) (any, error) { return feed.ParseChanges(b) }, changes, true,
		},
		{
			"/v1/codes?shard=63&after_domain=go.example&after_code=%2B%26",
			[]any{63, link.Key{Domain: "go.example", Code: "+&"}},
			func(b []byte) (any, error) { return feed.ParseCodes(b) }, codes, true,
		},
		{
			"/v1/codes?shard=0&after_domain=&after_code=",
			[]any{0, link.Key{}},
			func(b []byte) (any, error) { return feed.ParseCodes(b) }, codes, true,
		},
		{
			"/v1/config", nil,
			func(b []byte) (any, error) { return feed.ParseConfig(b) }, config, false,
		},
	} {
		w := get(t, h, tc.target)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d (%s), want 200", tc.target, w.Code, w.Body)
			continue
		}
		if !reflect.DeepEqual(asked, tc.asked) {
			t.Errorf("%s: asked for %v, want %v", tc.target, asked, tc.asked)
		}
		body := w.Body.Bytes()
		if got, err := tc.parse(body); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: body %+v, %v, want %+v", tc.target, got, err, tc.want)
		}
		contentType := "application/json"
		if tc.octets {
			contentType = "application/octet-stream"
		}
		for name, want := range map[string]string{
			"Content-Type": contentType, "Content-Length": strconv.Itoa(len(body)),
			"Waypost-Epoch": "3", "Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s = %q, want %q", tc.target, name, got, want)
			}
		}
	}
}

func TestBadParametersAreRefusedBeforeAnythingIsRead(t *testing.T) {
	t.Parallel()
	h := newHandler(&fake{t: t}, Config{}, io.Discard)
	for _, target := range []string{
		"/v1/fill",
		"/v1/fill?epoch=1&min=1",
		"/v1/fill?code=&epoch=1&min=1",
		"/v1/fill?code=a&min=1",
		"/v1/fill?code=a&epoch=1",
		"/v1/fill?code=a&epoch=-1&min=1",
		"/v1/fill?code=a&epoch=1&min=9223372036854775808",
		"/v1/fill?code=a&epoch=1&min=0x1",
		"/v1/fill?code=a&epoch=1&min=",
		"/v1/fill?code=a&code=b&epoch=1&min=1",
		"/v1/fill?code=a&epoch=1&min=1&min=2",
		"/v1/fill?code=a%00b&epoch=1&min=1",
		"/v1/fill?code=%FF&epoch=1&min=1",
		"/v1/fill?code=%zz&epoch=1&min=1",
		"/v1/fill?code=a;b&epoch=1&min=1",
		"/v1/fill?code=" + strings.Repeat("a", 257) + "&epoch=1&min=1",
		"/v1/fill?domain=" + strings.Repeat("a", 254) + "&code=a&epoch=1&min=1",
		"/v1/fill?domain=a%00&code=a&epoch=1&min=1",
		"/v1/fill?domain=%C3%A9&code=a&epoch=1&min=1",
		"/v1/fill?domain=a+b&code=a&epoch=1&min=1",
		"/v1/changes?epoch=1&from=1",
		"/v1/changes?shard=65&epoch=1&from=1",
		"/v1/changes?shard=-1&epoch=1&from=1",
		"/v1/changes?shard=256&epoch=1&from=1",
		"/v1/changes?shard=1&from=1",
		"/v1/changes?shard=1&epoch=1",
		"/v1/changes?shard=1&epoch=1&from=1.5",
		"/v1/codes",
		"/v1/codes?shard=64",
		"/v1/codes?shard=1&after_code=%00",
		"/v1/codes?shard=1&after_domain=%7F",
	} {
		w := get(t, h, target)
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", target, w.Code)
		}
		if w.Header().Get("Waypost-Epoch") != "" {
			t.Errorf("%s: an error has an epoch", target)
		}
	}
}

func TestOtherPathsAndMethodsArePlainErrors(t *testing.T) {
	t.Parallel()
	h := newHandler(&fake{t: t}, Config{}, io.Discard)
	for _, tc := range []struct {
		method, target string
		want           int
	}{
		{http.MethodGet, "/", http.StatusNotFound},
		{http.MethodGet, "/v1/fill/x", http.StatusNotFound},
		{http.MethodGet, "/v2/heads", http.StatusNotFound},
		{http.MethodPost, "/v1/heads", http.StatusMethodNotAllowed},
		{http.MethodGet, "/v1/probe", http.StatusMethodNotAllowed},
		{http.MethodPut, "/v1/ack", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/v1/config", http.StatusMethodNotAllowed},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.target, nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s %s: %d %s, want %d text/plain", tc.method, tc.target, w.Code, w.Header().Get("Content-Type"), tc.want)
		}
	}
}

func TestErrorsOfTheStoresBecomeStatuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
		want int
		logs string
	}{
		{"unavailable", fmt.Errorf("heads: %w", link.ErrUnavailable), http.StatusServiceUnavailable, "WARN"},
		{"deadline", fmt.Errorf("heads: %w", context.DeadlineExceeded), http.StatusServiceUnavailable, "WARN"},
		{"anything else", errors.New("syntax error at SELECT"), http.StatusInternalServerError, "ERROR"},
	} {
		var log bytes.Buffer
		f := &fake{
			t:       t,
			load:    func(context.Context, link.Key, uint64, uint64) (*feed.Entry, error) { return nil, tc.err },
			heads:   func(context.Context) (*feed.Heads, error) { return nil, tc.err },
			changes: func(context.Context, int, uint64, uint64) (*feed.Changes, error) { return nil, tc.err },
			codes:   func(context.Context, int, link.Key) (*feed.Codes, error) { return nil, tc.err },
			config:  func(context.Context) (*feed.Config, error) { return nil, tc.err },
		}
		for _, target := range []string{
			"/v1/fill?code=a&epoch=1&min=1", "/v1/heads", "/v1/changes?shard=1&epoch=1&from=1", "/v1/codes?shard=1", "/v1/config",
		} {
			log.Reset()
			h := newHandler(f, Config{}, &log) // one that has logged nothing yet
			w := get(t, h, target)
			if w.Code != tc.want {
				t.Errorf("%s: %s: status %d, want %d", tc.name, target, w.Code, tc.want)
			}
			if got, want := w.Header().Get("Retry-After") != "", tc.want == http.StatusServiceUnavailable; got != want {
				t.Errorf("%s: %s: has Retry-After = %v, want %v", tc.name, target, got, want)
			}
			if strings.Contains(w.Body.String(), "syntax") {
				t.Errorf("%s: %s: body %q tells internals", tc.name, target, w.Body)
			}
			id := w.Header().Get("X-Request-Id")
			if got := log.String(); strings.Count(got, "\n") != 1 || id == "" || !strings.Contains(got, "level="+tc.logs) ||
				!strings.Contains(got, "request_id="+id) || !strings.Contains(got, tc.err.Error()) {
				t.Errorf("%s: %s: log = %q, want one line at %s with id %q and cause", tc.name, target, got, tc.logs, id)
			}
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("/v1/fill", "domain=go.example&code=caf%C3%A9&epoch=1&min=2")
	f.Add("/v1/changes", "shard=64&epoch=1&from=2")
	f.Add("/v1/codes", "shard=1&after_domain=&after_code=%2B")
	f.Add("/v1/fill", "code=%00;&epoch=18446744073709551615")
	f.Fuzz(func(t *testing.T, path, query string) {
		key := func(k link.Key) {
			if len(k.Domain) > 253 || len(k.Code) > 256 || strings.ContainsRune(k.Domain+k.Code, 0) ||
				strings.ToValidUTF8(k.Code, "") != k.Code {
				t.Errorf("key %q was let through", k)
			}
		}
		number := func(n uint64) {
			if n > 1<<63-1 {
				t.Errorf("number %d was let through", n)
			}
		}
		fk := &fake{
			t: t,
			load: func(_ context.Context, k link.Key, epoch, minSeq uint64) (*feed.Entry, error) {
				key(k)
				number(epoch)
				number(minSeq)
				if k.Code == "" {
					t.Error("a fill without code was let through")
				}
				return &feed.Entry{Key: k}, nil
			},
			heads: func(context.Context) (*feed.Heads, error) { return &feed.Heads{}, nil },
			changes: func(_ context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
				number(epoch)
				number(from)
				if shard < 0 || shard > 64 {
					t.Errorf("shard %d was let through", shard)
				}
				return &feed.Changes{Shard: shard}, nil
			},
			codes: func(_ context.Context, shard int, after link.Key) (*feed.Codes, error) {
				key(after)
				if shard < 0 || shard > 63 {
					t.Errorf("shard %d was let through", shard)
				}
				return &feed.Codes{}, nil
			},
			config: func(context.Context) (*feed.Config, error) { return &feed.Config{}, nil },
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL.Path, r.URL.RawQuery = path, query
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		newHandler(fk, Config{}, t.Output()).ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s?%s: status %d", path, query, w.Code)
		}
	})
}
