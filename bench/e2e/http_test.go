package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"waypost/bench/fleet"
)

func TestHTTP(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Edges: []string{"eu"}})
	e := f.Edges[0]
	l := f.API(t).MustCreate(t, fleet.Fields{"target": "https://example.com/h", "query": "append", "suffix": "append"})
	f.Settle(t)
	for _, tt := range []struct {
		name string
		test func(t *testing.T, e *fleet.Edge, l fleet.Link)
	}{
		{"limits of path, query and head", sizes},
		{"answers without a body", bodiless},
		{"a body is refused", bodies},
		{"a body is no request", smuggling},
		{"Expect: 100-continue", expectation},
		{"garbage", garbage},
		{"pipelined requests are answered in order", pipelined},
		{"closing and keeping connections", connections},
		{"a request that never ends", slowloris},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, e, l)
		})
	}
}

func sizes(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	const kib = 1 << 10
	padded := func(size int) fleet.Request {
		r := fleet.Request{Path: l.Path(), Header: map[string]string{"X-Pad": ""}}
		r.Header["X-Pad"] = strings.Repeat("p", size-len(r.Bytes()))
		return r
	}
	suffix := strings.Repeat("s", 2*kib-len(l.Path())-1)
	query := strings.Repeat("q", 16*kib)
	for _, tt := range []struct {
		name     string
		request  fleet.Request
		status   []int
		location string
	}{
		{"path of 2 KiB", fleet.Request{Path: l.Path() + "/" + suffix}, []int{302}, l.Target + "/" + suffix},
		{"path of 2 KiB and a byte", fleet.Request{Path: l.Path() + "/" + suffix + "s"}, []int{400, 404, 414}, ""},
		{"query of 16 KiB", fleet.Request{Path: l.Path() + "?" + query}, []int{302}, l.Target + "?" + query},
		{"query of 16 KiB and a byte", fleet.Request{Path: l.Path() + "?" + query + "q"}, []int{431}, ""},
		{"head of 32 KiB", padded(32 * kib), []int{302}, l.Target},
		{"head of 32 KiB and a byte", padded(32*kib + 1), []int{431}, ""},
		{"head of 100 KiB", padded(100 * kib), []int{431}, ""},
		{"path of 40 KiB", fleet.Request{Path: "/" + strings.Repeat("a", 40*kib)}, []int{414, 431}, ""},
	} {
		r := e.Must(t, tt.request)
		if !slices.Contains(tt.status, r.Status) || r.Location() != tt.location {
			t.Errorf("%s: got %d to %.60q (%d bytes), want %v to %.60q (%d bytes)",
				tt.name, r.Status, r.Location(), len(r.Location()), tt.status, tt.location, len(tt.location))
		}
	}
}

func bodiless(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	conn := e.Dial(t)
	for _, tt := range []struct {
		request fleet.Request
		status  int
		length  string // Content-Length, "" for whatever there is
	}{
		{fleet.Request{Path: l.Path()}, 302, "0"},
		{fleet.Request{Path: l.Path(), Method: "HEAD"}, 302, "0"},
		{fleet.Request{Path: "/" + unknownCode(), Method: "HEAD"}, 404, ""},
		{fleet.Request{Path: l.Path() + "+", Method: "HEAD"}, 200, ""},
		{fleet.Request{Path: "/robots.txt", Method: "HEAD"}, 200, ""},
		{fleet.Request{Path: l.Path()}, 302, "0"}, // nothing of a body stood between
	} {
		r, err := conn.Ask(tt.request)
		if err != nil {
			t.Fatalf("%s %s: %v", tt.request.Method, tt.request.Path, err)
		}
		length := r.Header.Get("Content-Length")
		if r.Status != tt.status || tt.length != "" && length != tt.length || conn.Held() != 0 || tt.request.Method == "HEAD" && r.Body != "" {
			t.Errorf("%s %s: got %d, Content-Length %q, %d bytes of body; want %d, %q, none",
				tt.request.Method, tt.request.Path, r.Status, length, len(r.Body)+conn.Held(), tt.status, tt.length)
		}
	}
}

// bodies are refused whether they are small or large, and the refusal arrives. After it the connection is of use or
// closed.
func bodies(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	const large = 4 << 20
	for _, tt := range []struct {
		name, head, body string
	}{
		{"none", "Content-Length: 0\r\n", ""},
		{"small", "Content-Length: 3\r\n", "a=b"},
		{"large", fmt.Sprintf("Content-Length: %d\r\n", large), strings.Repeat("x", large)},
		{"chunked", "Transfer-Encoding: chunked\r\n", "3\r\na=b\r\n0\r\n\r\n"},
		{"form", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 9\r\n", "--b--\r\n\r\n"},
	} {
		for _, method := range []string{"POST", "PUT"} {
			name := method + " with body: " + tt.name
			conn := e.Dial(t)
			sent := make(chan error, 1)
			go func() {
				sent <- conn.Send(method + " " + l.Path() + " HTTP/1.1\r\nHost: x\r\n" + tt.head + "\r\n" + tt.body)
			}()
			r, err := conn.Receive(method)
			if err != nil || r.Status != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s: got %d, Allow %q, %v; want 405, GET, HEAD", name, r.Status, r.Header.Get("Allow"), err)
			}
			if !r.Close && err == nil {
				if err := <-sent; err != nil {
					t.Errorf("%s: kept open, but the body could not be sent: %v", name, err)
				}
				again, err := conn.Ask(fleet.Request{Path: l.Path()})
				if err == nil {
					err = leads(again, l.Target)
				}
				if err != nil {
					t.Errorf("%s: kept open, but of no use: %v", name, err)
				}
				continue
			}
			_ = conn.Close()
			if err := <-sent; err != nil && !closed(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// smuggling hides a request in a body, also where two lengths are given; it must not be answered.
func smuggling(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	hidden := "GET " + l.Path() + " HTTP/1.1\r\nHost: x\r\n\r\n"
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden)
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }
	for name, request := range map[string]string{
		"Content-Length":                       length(len(hidden)) + "\r\n" + hidden,
		"chunked":                              "Transfer-Encoding: chunked\r\n\r\n" + chunk,
		"both, the length for all":             length(len(chunk)) + "Transfer-Encoding: chunked\r\n\r\n" + chunk,
		"two equal lengths":                    length(len(hidden)) + length(len(hidden)) + "\r\n" + hidden,
		"two lengths":                          length(len(hidden)) + length(0) + "\r\n" + hidden,
		"two lengths, the other way round":     length(0) + length(len(hidden)) + "\r\n" + hidden,
		"an unknown transfer coding":           "Transfer-Encoding: identity\r\n" + length(len(hidden)) + "\r\n" + hidden,
		"a coding in odd case and white space": "Transfer-Encoding:\tCHUNKED \r\n\r\n" + chunk,
	} {
		for _, method := range []string{"POST", "GET"} {
			conn := e.Dial(t)
			if err := conn.Send(method + " /" + unknownCode() + " HTTP/1.1\r\nHost: x\r\n" + request); err != nil {
				t.Fatal(err)
			}
			r, err := conn.Receive(method)
			if err != nil || r.Status < 400 || r.Status >= 500 {
				t.Errorf("%s, %s: got %d, %v; want a refusal", method, name, r.Status, err)
				continue
			}
			if r.Close {
				continue
			}
			// Whatever comes next must be the answer to what is asked next.
			again, err := conn.Ask(fleet.Request{Path: "/robots.txt"})
			if err == nil && again.Status != http.StatusOK {
				t.Errorf("%s, %s: the hidden request was answered: %d to %q", method, name, again.Status, again.Location())
			}
		}
	}
}

func expectation(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	for name, head := range map[string]string{
		"with a length": "Content-Length: 5\r\n",
		"chunked":       "Transfer-Encoding: chunked\r\n",
	} {
		conn := e.Dial(t)
		if err := conn.Send("POST " + l.Path() + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" + head + "\r\n"); err != nil {
			t.Fatal(err)
		}
		// The body is not sent: an edge that waits for it would run into a timeout.
		r, err := conn.Receive("POST")
		if err != nil || r.Status != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: got %d, Allow %q, %v; want 405, GET, HEAD", name, r.Status, r.Header.Get("Allow"), err)
		}
	}
}

// garbage gets an answer below 500 or a closed connection, and does the edge no harm.
func garbage(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	for _, raw := range []string{
		"\r\n\r\n", "\x00\x00\x00\x00\r\n\r\n", "GET\r\n\r\n", "GET \r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
		" GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET  /  HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1 extra\r\nHost: x\r\n\r\n",
		"GET nonsense HTTP/1.1\r\nHost: x\r\n\r\n", "GET ?a HTTP/1.1\r\nHost: x\r\n\r\n", "GET # HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n", "GET http:///x HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://[::1/x HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://%zz/x HTTP/1.1\r\nHost: x\r\n\r\n", "GET //// HTTP/1.1\r\nHost: x\r\n\r\n", "GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a\x00b HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a\tb HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%u0041 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no TLS here\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: \x00\r\n\r\n", "GET / HTTP/1.1\r\nHost: x/../y@z:1:2\r\n\r\n", "GET / HTTP/1.1\r\nHost: " + strings.Repeat("h", 5000) + "\r\n\r\n",
		"GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n: no name\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n folded: line\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\nHost: x\r\nA: \x00\x01\x7f\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		strings.Repeat("M", 3000) + " / HTTP/1.1\r\nHost: x\r\n\r\n", "GET " + l.Path() + "/" + strings.Repeat("/", 1500) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: " + strings.Repeat("1.1.1.1,", 3000) + "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 5000) + "\r\n",
	} {
		conn := e.Dial(t)
		if err := conn.Send(raw); err != nil && !closed(err) {
			t.Errorf("%.60q: %v", raw, err)
		}
		if err := conn.Conn.(*net.TCPConn).CloseWrite(); err != nil && !closed(err) {
			t.Errorf("%.60q: %v", raw, err)
		}
		for {
			r, err := conn.Receive("GET")
			if err != nil {
				if !closed(err) {
					t.Errorf("%.60q: %v, want an answer or a closed connection", raw, err)
				}
				break
			}
			if r.Status >= 500 {
				t.Errorf("%.60q: got status %d", raw, r.Status)
			}
		}
		_ = conn.Close()
	}
	if err := leads(e.Get(t, l.Path()), l.Target); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// closed says that a connection was ended by the other side.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ENOTCONN) || errors.Is(err, net.ErrClosed)
}

func pipelined(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	conn := e.Dial(t)
	var batch strings.Builder
	const n = 60
	for i := range n {
		path := fmt.Sprintf("%s?n=%d", l.Path(), i)
		if i%3 == 2 {
			path = "/" + unknownCode()
		}
		batch.WriteString(fleet.Request{Path: path}.Bytes())
	}
	if err := conn.Send(batch.String()); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r, err := conn.Receive("GET")
		switch {
		case err != nil:
		case i%3 == 2:
			err = isStatus(r, http.StatusNotFound)
		default:
			err = leads(r, fmt.Sprintf("%s?n=%d", l.Target, i))
		}
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
}

func connections(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	for _, tt := range []struct {
		name, request string
		keeps         bool
	}{
		{"HTTP/1.1", "GET " + l.Path() + " HTTP/1.1\r\nHost: x\r\n\r\n", true},
		{"HTTP/1.1, close", "GET " + l.Path() + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false},
		{"HTTP/1.0", "GET " + l.Path() + " HTTP/1.0\r\n\r\n", false},
		{"HTTP/1.0, keep-alive", "GET " + l.Path() + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
	} {
		conn := e.Dial(t)
		for range 2 {
			if err := conn.Send(tt.request); err != nil {
				t.Fatal(err)
			}
			r, err := conn.Receive("GET")
			if err == nil {
				err = leads(r, l.Target)
			}
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				break
			}
			if !tt.keeps {
				if _, err := conn.Receive("GET"); !closed(err) {
					t.Errorf("%s: the connection was not closed: %v", tt.name, err)
				}
				break
			}
		}
	}
}

// slowloris sends a head byte by byte for ever, which each time looks like progress.
func slowloris(t *testing.T, e *fleet.Edge, l fleet.Link) {
	t.Helper()
	conn := e.Dial(t)
	if err := conn.Send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	fleet.Await(t, "the edge ends the connection", func() error {
		fleet.Pass(t, 200*time.Millisecond)
		if err := conn.Send("s"); err != nil {
			if closed(err) {
				return nil
			}
			t.Fatal(err)
		}
		return errors.New("one more byte was taken")
	})
	if err := leads(e.Get(t, l.Path()), l.Target); err != nil {
		t.Error(err)
	}
}

// An answer that is ready leaves, whatever was asked after it on the same connection.
func TestPipelinedHitIsNotHeldUpByAStalledFill(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Edges: []string{"eu"}})
	links := numbered(t, f.API(t), "pipelined", 2)
	f.Settle(t)
	e := f.Edges[0]
	if err := leads(e.Get(t, links[0].Path()), links[0].Target); err != nil {
		t.Fatal(err)
	}
	f.Origins[0].Pause()
	defer f.Origins[0].Resume()
	conn := e.Dial(t)
	if err := conn.Send(fleet.Request{Path: links[0].Path()}.Bytes() + fleet.Request{Path: links[1].Path()}.Bytes()); err != nil {
		t.Fatal(err)
	}
	r, err := conn.Receive("GET")
	if err == nil {
		err = leads(r, links[0].Target)
	}
	if err != nil {
		t.Fatal(err)
	}
	if held := conn.Held(); held != 0 {
		t.Errorf("the hit's answer came together with that of the fill behind it (%d bytes): it was held back", held)
	}
	if r, err := conn.Receive("GET"); err != nil || r.Status != http.StatusServiceUnavailable {
		t.Errorf("the stalled fill: got %d, %v; want 503", r.Status, err)
	}
}
