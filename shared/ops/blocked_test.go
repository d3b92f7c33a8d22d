package ops_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

// The tests of this file are not parallel: what the runtime watches is one for the process.

// watched is whether the runtime looks at waits for a mutex.
func watched() bool { return runtime.SetMutexProfileFraction(-1) > 0 }

// awaitWatched waits until the runtime looks at waits, or does not.
func awaitWatched(t *testing.T, want bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for watched() != want {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waits are watched: %t, want %t", !want, want)
		}
	}
}

// ask asks for a page until the returned function is called.
func ask(t *testing.T, url string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	c := client(t)
	asking.Go(func() {
		if response, err := c.Do(request); err == nil {
			_ = response.Body.Close()
		}
	})
	return func() { cancel(); asking.Wait() }
}

func TestWaitsAreWatchedWhileAnyProfileOfThemIsTaken(t *testing.T) {
	server, _ := newServer("127.0.0.1:0")
	run(t, server)
	fetch(t, "http://"+server.Addr()+"/debug/pprof/block")
	if watched() {
		t.Error("waits are watched for a profile of the past, want none")
	}
	stopBlock := ask(t, "http://"+server.Addr()+"/debug/pprof/block?seconds=300")
	awaitWatched(t, true)
	if code, body := fetch(t, "http://"+server.Addr()+"/debug/pprof/mutex?seconds=1"); code != http.StatusOK || !watched() {
		t.Errorf("after the shorter of two profiles, %d %.100q, waits are watched: %t, want so until the longer one ends", code, body, watched())
	}
	stopBlock()
	awaitWatched(t, false)
}

func TestAProfileShowsWhatWaitedMeanwhile(t *testing.T) {
	server, _ := newServer("127.0.0.1:0")
	run(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() { waitAgainAndAgain(ctx) })
	code, body := fetch(t, "http://"+server.Addr()+"/debug/pprof/block?seconds=1")
	cancel()
	waiting.Wait()
	unzipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil || code != http.StatusOK {
		t.Fatalf("block = %d, %v", code, err)
	}
	profile, err := io.ReadAll(unzipped)
	if err != nil || !bytes.Contains(profile, []byte("waitAgainAndAgain")) {
		t.Errorf("the profile does not name the function that waited, error %v", err)
	}
}

// waitAgainAndAgain waits for a channel until ctx ends.
func waitAgainAndAgain(ctx context.Context) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
	}
}
