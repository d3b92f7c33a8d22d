package load

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"testing"
)

// serve listens until the test ends and hands each request, by its path and its client's address, to answer, whose
// bytes go back as they are; "" closes the connection.
func serve(t *testing.T, answer func(client, path string) string) (addr string) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			serving.Go(func() { converse(c, answer) })
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return l.Addr().String()
}

// converse answers a connection's requests.
func converse(c net.Conn, answer func(client, path string) string) {
	defer c.Close() //nolint:errcheck // whatever became of it
	client, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		raw := answer(client, r.URL.Path)
		if _, err := c.Write([]byte(raw)); err != nil || raw == "" {
			return
		}
	}
}

// start opens a generator that is closed at the test's end.
func start(t *testing.T, plan Plan) *Generator {
	t.Helper()
	g, err := New(plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}
