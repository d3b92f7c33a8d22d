package clicks

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// served is a server that answers a status to every request, and what it was asked.
func served(t *testing.T, status int) (addr string, asked *sync.Map) {
	t.Helper()
	asked = &sync.Map{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		n, _ := asked.LoadOrStore(host+r.URL.Path, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		w.Header().Set("Location", strings.Repeat("long", 512))
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), asked
}

func requests(paths ...string) (raw [][]byte) {
	for _, p := range paths {
		raw = append(raw, []byte(fleet.Request{Path: p}.Bytes()))
	}
	return raw
}

func TestAFloodCountsWhatItWasAnsweredAndAsksForAllFromEachClient(t *testing.T) {
	t.Parallel()
	addr, asked := served(t, http.StatusFound)
	f, err := NewFlood(addr, 3, requests("/a", "/b"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // a flood can be let loose again
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		got, err := f.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		asked.Range(func(_, n any) bool {
			total += n.(*atomic.Int64).Swap(0)
			return true
		})
		if int64(got.Answers) != total || total < 6 || got.PerSecond() <= 0 {
			t.Errorf("got %d answers, %v a second, want the %d that the server gave", got.Answers, got.PerSecond(), total)
		}
	}
	for _, client := range []string{"127.1.0.0", "127.1.0.1", "127.1.0.2"} {
		for _, path := range []string{"/a", "/b"} {
			if _, ok := asked.Load(client + path); !ok {
				t.Errorf("%s did not ask for %s", client, path)
			}
		}
	}
}

func TestAFloodEndsWithWhatIsNoRedirect(t *testing.T) {
	t.Parallel()
	addr, _ := served(t, http.StatusNotFound)
	f, err := NewFlood(addr, 2, requests("/a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got error %v, want one that names the answer", err)
	}
}

func TestVisitsAreThoseOfPopularLinksMostOften(t *testing.T) {
	t.Parallel()
	links := []fleet.Link{{Code: "first"}, {Code: "second"}, {Code: "third"}}
	times := map[string]int{}
	for _, v := range Visits(1, links, 1000, 16) {
		path, _, _ := strings.Cut(strings.TrimPrefix(string(v), "GET "), " ")
		times[path]++
	}
	if times["/first"] <= times["/second"] || times["/second"] <= times["/third"] || times["/third"] == 0 {
		t.Errorf("got %v, want the first link more often than the second, and that than the third", times)
	}
}
