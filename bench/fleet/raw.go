package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// answerLimit bounds one request from its first byte to its answer's last. It is longer than any bound of the
// services.
const answerLimit = 20 * time.Second

// maxReply bounds an answer's body, in bytes.
const maxReply = 1 << 20

// Conn is a plain connection to an edge, which sends what it is given, byte for byte. It is one goroutine's.
type Conn struct {
	net.Conn
	in *bufio.Reader
}

// Reply is an edge's answer. Header values are the bytes as sent.
type Reply struct {
	Status int
	Header http.Header
	Body   string
	Close  bool // the edge ends the connection after it
}

// Tier is the answer's Cache-Status from its "detail" on: l1, l2, filter, origin, or "" where there is none.
func (r Reply) Tier() string {
	_, detail, _ := strings.Cut(r.Header.Get("Cache-Status"), "detail=")
	return detail
}

// Location is the header's value, "" if there is none.
func (r Reply) Location() string { return r.Header.Get("Location") }

// Request is one request line and its head. Zero fields take what stands beside them.
type Request struct {
	Method string // GET
	Path   string // sent as it is
	Host   string // localhost
	Header map[string]string
	Body   string // sent as it is; its Content-Length is Header's business
}

// Bytes is the request as it goes over the wire.
func (r Request) Bytes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", or(r.Method, http.MethodGet), r.Path, or(r.Host, "localhost"))
	for name, value := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	b.WriteString("\r\n" + r.Body)
	return b.String()
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Connect opens a connection to addr. from is the client's address, one of 127.0.0.0/8; the zero Addr leaves the
// choice to the kernel.
func Connect(ctx context.Context, addr string, from netip.Addr) (*Conn, error) {
	dialer := net.Dialer{Timeout: answerLimit}
	if from.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return NewConn(conn), nil
}

// NewConn speaks over a connection that is made already.
func NewConn(conn net.Conn) *Conn { return &Conn{Conn: conn, in: bufio.NewReader(conn)} }

// Send writes bytes.
func (c *Conn) Send(raw string) error {
	if err := c.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return err
	}
	_, err := io.WriteString(c, raw)
	return err
}

// Receive reads the answer to a request of this method. The error is io.EOF where the edge closed the connection
// before an answer began.
func (c *Conn) Receive(method string) (Reply, error) {
	if _, err := c.in.Peek(1); err != nil {
		return Reply{}, err
	}
	resp, err := http.ReadResponse(c.in, &http.Request{Method: or(method, http.MethodGet)})
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	return Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Close: resp.Close}, err
}

// Ask sends a request and reads its answer.
func (c *Conn) Ask(r Request) (Reply, error) {
	if err := c.Send(r.Bytes()); err != nil {
		return Reply{}, err
	}
	return c.Receive(r.Method)
}

// Dial opens a connection to the edge that is closed at the test's end.
func (e *Edge) Dial(tb testing.TB) *Conn {
	tb.Helper()
	c, err := Connect(tb.Context(), e.Addr, netip.Addr{})
	if err != nil {
		tb.Fatalf("%s: %v", e.Name, err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// Ask sends one request by a connection of its own.
func (e *Edge) Ask(ctx context.Context, r Request) (Reply, error) {
	c, err := Connect(ctx, e.Addr, netip.Addr{})
	if err != nil {
		return Reply{}, err
	}
	defer c.Close() //nolint:errcheck // its answer is here
	reply, err := c.Ask(r)
	if err != nil {
		err = fmt.Errorf("%s: %w", e.Name, err)
	}
	return reply, err
}

// Must is Ask, and fails the test where there is no answer.
func (e *Edge) Must(tb testing.TB, r Request) Reply {
	tb.Helper()
	reply, err := e.Ask(tb.Context(), r)
	if err != nil {
		tb.Fatalf("%s %.80q: %v", or(r.Method, http.MethodGet), r.Path, err)
	}
	return reply
}

// Get asks for a path.
func (e *Edge) Get(tb testing.TB, path string) Reply {
	tb.Helper()
	return e.Must(tb, Request{Path: path})
}

// Held is how many bytes have been received beyond the answers that were read.
func (c *Conn) Held() int { return c.in.Buffered() }
