package httpd

import (
	"bytes"
	"errors"
	"net"
	"os"
	"time"
)

// onePerRead is a listener whose connections hand out at most one request head
// a Read.
//
// fasthttp keeps an answer in its buffer as long as a further request lies in
// its read buffer, and flushes when that one is answered: a hit would wait for
// a slow fill behind it, beyond the time for which its lease allows it. With
// nothing left in the read buffer every answer is flushed at once. A request
// that comes in a packet of its own, as nearly all do, costs one search of its
// head; pipelined ones are kept here and cost no further system call.
type onePerRead struct{ net.Listener }

// Accept implements net.Listener.
func (l onePerRead) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}

// headConn is one such connection. Its Read is for one goroutine.
type headConn struct {
	net.Conn
	reading, writing deadline

	asked bool // a head was handed out
	kept  kept

	rest []byte             // read from the connection and not yet handed out
	last [len(headEnd)]byte // the last bytes handed out of a head that has not ended …
	n    int                // … and how many: at most one less than headEnd has
}

const headEnd = "\r\n\r\n"

// Read implements io.Reader.
func (c *headConn) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := c.cut(p[:copy(p, c.rest)])
		if c.rest = c.rest[n:]; len(c.rest) == 0 {
			c.rest = nil // an idle connection holds no memory for it
		}
		return n, nil
	}
	read, err := c.read(p)
	n := c.cut(p[:read])
	if n < read {
		c.rest = append([]byte(nil), p[n:read]...)
	}
	return n, err
}

// read reads from the connection, once it has asked again as kept does: then a
// wait is broken off for one more look, soon, since the last one may have missed
// the client's end.
func (c *headConn) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // the connection's own Read would wait for the one that kept has under way
	}
	if c.kept.begun() {
		if look := time.Now().Add(lookAgain); c.reading.wanted.IsZero() || look.Before(c.reading.wanted) {
			if err := c.reading.armAt(look, c.Conn.SetReadDeadline); err != nil {
				return 0, err
			}
			if n, err := c.kept.read(c.Conn, p); !errors.Is(err, os.ErrDeadlineExceeded) {
				return n, err
			}
		}
	}
	if err := c.reading.arm(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	if !c.asked {
		return c.Conn.Read(p)
	}
	return c.kept.read(c.Conn, p)
}

// Close implements io.Closer.
func (c *headConn) Close() error {
	c.kept.close()
	return c.Conn.Close()
}

// cut is the length of b up to the end of the first head, which may have begun
// before b; all of b if none ends in it.
func (c *headConn) cut(b []byte) int {
	const before = len(headEnd) - 1
	var seam [2 * before]byte
	across := append(append(seam[:0], c.last[:c.n]...), b[:min(before, len(b))]...)
	if i := bytes.Index(across, []byte(headEnd)); i >= 0 {
		end := i + len(headEnd) - c.n
		c.n, c.asked = 0, true
		return end
	}
	if i := bytes.Index(b, []byte(headEnd)); i >= 0 {
		c.n, c.asked = 0, true
		return i + len(headEnd)
	}
	tail := b
	if len(b) < before {
		tail = across // so few bytes do not push out all that came before
	}
	c.n = copy(c.last[:], tail[max(0, len(tail)-before):])
	return len(b)
}
