package fill

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp's client cleans its idle connections in goroutines that end by
		// themselves some seconds after the last one was closed.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*TCPDialer).tcpAddrsClean"))
}

var key = link.Key{Domain: "go.example", Code: "kö&ln~."}

func live() *feed.Entry {
	return &feed.Entry{Epoch: 1, AsOf: 9, Version: 7, Key: key, Body: feed.Body{State: feed.Enabled, Status: 302, Target: "https://example.com/"}}
}

func origins(t *testing.T, handlers ...http.HandlerFunc) *Client {
	t.Helper()
	var urls []string
	for _, h := range handlers {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		urls = append(urls, server.URL)
	}
	c, err := New(Config{Origins: urls, Secret: "s3cret", MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func answer(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b) }
}

func TestLoadAsksForTheKeyAsItIs(t *testing.T) {
	t.Parallel()
	c := origins(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if got := r.Header.Get("Authorization"); got != "Bearer s3cret" {
			t.Errorf("authorization: got %q", got)
		}
		if r.URL.Path != "/v1/fill" || q.Get("domain") != key.Domain || q.Get("code") != key.Code || q.Get("epoch") != "1" || q.Get("min") != "8" {
			t.Errorf("got %s", r.URL)
		}
		_, _ = w.Write(live().Append(nil))
	})
	e, err := c.Load(t.Context(), key, 1, 8)
	if err != nil {
		t.Fatal(err)
	}
	if *e != *live() {
		t.Errorf("got %+v, want %+v", e, live())
	}
}

func TestEveryCallReadsItsMessage(t *testing.T) {
	t.Parallel()
	changes := feed.Changes{Epoch: 4, Shard: 3, Head: 2}
	codes := feed.Codes{Epoch: 4, Hashes: []uint64{1}}
	c := origins(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path + "?" + r.URL.RawQuery {
		case "/v1/changes?shard=3&epoch=4&from=1":
			_, _ = w.Write(changes.Append(nil))
		case "/v1/codes?shard=3&after_domain=d&after_code=a%2Bb":
			_, _ = w.Write(codes.Append(nil))
		case "/v1/config?":
			_, _ = w.Write([]byte(`{"epoch":4,"rows":{}}`))
		default:
			t.Errorf("got %s", r.URL)
		}
	})
	ctx := t.Context()
	if got, err := c.Changes(ctx, 3, 4, 1); err != nil || got.Head != 2 {
		t.Errorf("changes: %v, %v", got, err)
	}
	if got, err := c.Codes(ctx, 3, link.Key{Domain: "d", Code: "a+b"}); err != nil || len(got.Hashes) != 1 {
		t.Errorf("codes: %v, %v", got, err)
	}
	if got, err := c.Config(ctx); err != nil || got.Epoch != 4 {
		t.Errorf("config: %v, %v", got, err)
	}
}

func TestTheNextOriginIsAskedAndRemembered(t *testing.T) {
	t.Parallel()
	var first, second atomic.Int64
	c := origins(t, func(w http.ResponseWriter, _ *http.Request) {
		first.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}, func(w http.ResponseWriter, _ *http.Request) {
		second.Add(1)
		_, _ = w.Write(live().Append(nil))
	})
	for range 5 {
		if _, err := c.Load(t.Context(), key, 1, 8); err != nil {
			t.Fatal(err)
		}
	}
	if first.Load() != 1 || second.Load() != 5 {
		t.Errorf("got %d calls to the first and %d to the second, want 1 and 5", first.Load(), second.Load())
	}
}

func TestASilentOriginLeavesTimeForTheNext(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	c := origins(t, func(http.ResponseWriter, *http.Request) { <-release }, answer(live().Append(nil)))
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := c.Load(ctx, key, 1, 8); err != nil {
		t.Error(err)
	}
}

func TestAnOriginSilentInTheTLSHandshakeCostsItsTimeOnly(t *testing.T) {
	t.Parallel()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() //nolint:errcheck // ends the test's connections
	c, err := New(Config{Origins: []string{"https://" + ln.Addr().String()}, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Config(ctx); err == nil {
		t.Error("got no error")
	}
}

func TestFaultsAreUnavailable(t *testing.T) {
	t.Parallel()
	stranger := live()
	stranger.Key.Code = "other"
	for name, h := range map[string]http.HandlerFunc{
		"500":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"401":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"garbage":       answer([]byte("<html>")),
		"nothing":       answer(nil),
		"another key":   answer(stranger.Append(nil)),
		"far too much":  answer(make([]byte, maxAnswer+1)),
		"broken answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		c := origins(t, h)
		e, err := c.Load(t.Context(), key, 1, 8)
		if e != nil || !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("%s: got %v, %v, want ErrUnavailable", name, e, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
}

func TestNewRefusesWhatIsNoOrigin(t *testing.T) {
	t.Parallel()
	for _, urls := range [][]string{nil, {""}, {"localhost:9001"}, {"ftp://x"}, {"http://"}, {"http://ok", "::"}} {
		if _, err := New(Config{Origins: urls}); err == nil {
			t.Errorf("%q: got no error", urls)
		}
	}
}
