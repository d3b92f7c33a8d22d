package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// leavingListener is a listener whose drain lasts until the test ends; cancel is
// its signal.
func leavingListener(t *testing.T, h http.Handler) (base string, cancel context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := listen(ctx, "test", "127.0.0.1:0", h, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		_ = l.server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("run: %v", err)
		}
	})
	return "http://" + l.address(), cancel
}

// post sends a request that no client repeats by itself. last says that the
// answer is the last one of its connection.
func post(ctx context.Context, client *http.Client, url string) (status int, last bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("x"))
	if err != nil {
		return 0, false, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, false, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Close, errors.Join(err, resp.Body.Close())
}

func TestClientsThatKeepTheirConnectionsMoveOnDuringTheDrainAndLoseNothing(t *testing.T) {
	t.Parallel()
	base, signal := leavingListener(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bytes" {
			_, _ = w.Write([]byte("hello"))
		}
	}))
	ctx, giveUp := context.WithTimeout(t.Context(), 20*time.Second)
	defer giveUp()
	var busy sync.WaitGroup // until every client has had an answer
	var clients sync.WaitGroup
	for i := range 16 {
		busy.Add(1)
		clients.Go(func() {
			transport := &http.Transport{MaxConnsPerHost: 1}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			path := map[bool]string{true: "/bytes", false: "/nothing"}[i%2 == 0]
			for n := 0; ; n++ {
				status, last, err := post(ctx, client, base+path)
				if n == 0 {
					busy.Done()
				}
				if err != nil || status != http.StatusOK {
					t.Errorf("%s, request %d: status %d, %v", path, n, status, err)
					return
				}
				if last {
					return // to another origin
				}
			}
		})
	}
	busy.Wait()
	signal()
	clients.Wait()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	_, last, err := post(ctx, &http.Client{Transport: transport}, base+"/bytes")
	if err != nil || !last {
		t.Errorf("a new connection during the drain: %v, last answer: %v, want its last", err, last)
	}
}

func TestAnAnswerThatWasBegunBeforeTheSignalEndsItsConnectionToo(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}), make(chan struct{})
	base, signal := leavingListener(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(began)
			<-goOn
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	ctx, giveUp := context.WithTimeout(t.Context(), 20*time.Second)
	defer giveUp()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	answered := make(chan bool, 1)
	go func() {
		_, last, err := post(ctx, client, base+"/slow")
		answered <- err == nil && last
	}()
	<-began
	signal()
	for {
		_, last, err := post(ctx, client, base+"/")
		if err != nil {
			t.Fatal(err)
		}
		if last {
			break
		}
	}
	close(goOn)
	if !<-answered {
		t.Error("the answer does not end its connection")
	}
}
