package fill

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// restarted is a client of an origin that has closed all of the many connections
// that the client keeps.
func restarted(t *testing.T, answer []byte, call func(c *Client) error) *Client {
	t.Helper()
	const conns = longConns
	var requests atomic.Int64
	var all sync.WaitGroup // until there is a request on every connection
	all.Add(conns)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) <= conns {
			all.Done()
			all.Wait()
		}
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{Origins: []string{server.URL}, Secret: "s3cret", MaxConns: conns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	var calls sync.WaitGroup
	for range conns {
		calls.Go(func() {
			if err := call(c); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	server.CloseClientConnections()
	return c
}

func TestARestartedOriginIsReachedAtOnceHoweverManyConnectionsWereKept(t *testing.T) {
	t.Parallel()
	load := func(c *Client) error {
		_, err := c.Load(t.Context(), key, 1, 8)
		return err
	}
	c := restarted(t, live().Append(nil), load)
	if err := load(c); err != nil {
		t.Error(err)
	}
	ship := func(c *Client) error {
		_, err := c.Clicks(t.Context(), []byte("stretch"))
		return err
	}
	c = restarted(t, make([]byte, 8), ship)
	if err := ship(c); err != nil {
		t.Error(err)
	}
}

// What may have reached the origin is not repeated, so that the first visitor
// gets no answer, but nobody after.
func TestARestartedOriginCostsOneVisitorOfALimitedLink(t *testing.T) {
	t.Parallel()
	take := func(c *Client) error {
		_, err := c.Use(t.Context(), key)
		return err
	}
	c := restarted(t, taken(), take)
	_ = take(c)
	for range longConns {
		if err := take(c); err != nil {
			t.Error(err)
		}
	}
}
