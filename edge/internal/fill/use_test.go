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

	"waypost/shared/feed"
	"waypost/shared/link"
)

// taken is the answer to one use that was taken.
func taken() []byte {
	e := live()
	e.Limited = true
	return (&feed.Use{Verdict: feed.UseTaken, Entry: e}).Append(nil)
}

// nowhere is an address on which nobody listens.
func nowhere(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() //nolint:errcheck // it has done its work
	return "http://" + ln.Addr().String()
}

func TestUseAsksForTheKeyAsItIs(t *testing.T) {
	t.Parallel()
	c := origins(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodPost || r.URL.Path != "/v1/use" || q.Get("domain") != key.Domain || q.Get("code") != key.Code {
			t.Errorf("got %s %s", r.Method, r.URL)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer s3cret" {
			t.Errorf("authorization: got %q", got)
		}
		_, _ = w.Write(taken())
	})
	for range 2 { // over a new connection, then over a kept one
		got, err := c.Use(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != feed.UseTaken || got.Entry.Target != "https://example.com/" || got.Entry.Key != key {
			t.Errorf("got %+v of %+v", got, got.Entry)
		}
	}
}

func TestAUseThatMayHaveReachedAnOriginIsNotSentAgain(t *testing.T) {
	t.Parallel()
	stranger := live()
	stranger.Key.Code = "other"
	for name, h := range map[string]http.HandlerFunc{
		"503":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"500":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"garbage":       answer([]byte("<html>")),
		"nothing":       answer(nil),
		"another key":   answer((&feed.Use{Verdict: feed.UseTaken, Entry: stranger}).Append(nil)),
		"broken answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first, second atomic.Int64
			c := origins(t, func(w http.ResponseWriter, r *http.Request) {
				first.Add(1)
				h(w, r)
			}, func(w http.ResponseWriter, _ *http.Request) {
				second.Add(1)
				_, _ = w.Write(taken())
			})
			if used, err := c.Use(t.Context(), key); used != nil || !errors.Is(err, link.ErrUnavailable) {
				t.Errorf("got %v, %v, want ErrUnavailable", used, err)
			}
			if first.Load() != 1 || second.Load() != 0 {
				t.Errorf("sent %d times to the first origin and %d to the second, want once in all", first.Load(), second.Load())
			}
		})
	}
}

// An origin that closes a kept connection just as a use is written to it may
// have read the request.
func TestAUseIsNotSentAgainOverANewConnection(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	c := origins(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) > 1 {
			panic(http.ErrAbortHandler) // closes the connection without an answer
		}
		_, _ = w.Write(taken())
	})
	if _, err := c.Use(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if used, err := c.Use(t.Context(), key); used != nil || !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("got %v, %v, want ErrUnavailable", used, err)
	}
	if got := requests.Load(); got != 2 {
		t.Errorf("sent %d requests for two uses, want 2", got)
	}
}

func TestASilentOriginIsNotPassedOver(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var second atomic.Int64
	c := origins(t, func(http.ResponseWriter, *http.Request) { <-release }, func(w http.ResponseWriter, _ *http.Request) {
		second.Add(1)
		_, _ = w.Write(taken())
	})
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := c.Use(ctx, key); !errors.Is(err, link.ErrUnavailable) || second.Load() != 0 {
		t.Errorf("got error %v, and %d requests at the second origin, want ErrUnavailable and none", err, second.Load())
	}
}

func TestAUseGoesPastAnOriginThatRefusesConnections(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(answer(taken()))
	t.Cleanup(server.Close)
	c, err := New(Config{Origins: []string{nowhere(t), nowhere(t), server.URL}, Secret: "s3cret", MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for range 2 {
		if got, err := c.Use(t.Context(), key); err != nil || got.Verdict != feed.UseTaken {
			t.Errorf("got %v, %v, want a use", got, err)
		}
	}
}

func TestWithoutAnyOriginThereIsNoUse(t *testing.T) {
	t.Parallel()
	c, err := New(Config{Origins: []string{nowhere(t)}, Secret: "s3cret", MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	_, err = c.Use(t.Context(), key)
	if !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
	if err != nil && strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the error tells the secret: %v", err)
	}
}
