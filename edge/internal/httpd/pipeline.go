package httpd

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"waypost/shared/feed"
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
type onePerRead struct {
	net.Listener
	handler *handler // answers hits as they come; nil: all that comes is fasthttp's
}

// Accept implements net.Listener.
func (l onePerRead) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	_, socket := c.(*net.TCPConn)
	conn := &headConn{Conn: c, socket: socket, handler: l.handler}
	if peer, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		conn.peer = peer.AddrPort().Addr()
	}
	return conn, nil
}

// headConn is one such connection. Its Read is for one goroutine.
type headConn struct {
	net.Conn
	reading, writing deadline

	socket bool // and not TLS over one
	asked  bool // a head was handed out
	kept   kept

	handler   *handler // nil: all that comes from now on is fasthttp's
	peer      netip.Addr
	admission admission
	direct    bool         // the last answer was not fasthttp's
	renewed   feed.Instant // when the deadlines last were for such answers
	broken    error        // of writing one

	rest []byte             // read from the connection and not yet handed out
	last [len(headEnd)]byte // the last bytes handed out of a head that has not ended …
	n    int                // … and how many: at most one less than headEnd has
}

const headEnd = "\r\n\r\n"

// Read implements io.Reader. The heads that it hands out are those that serve has
// not answered.
func (c *headConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // the connection's own Read would wait for the one that kept has under way
	}
	n, err := c.next(p)
	if n > 0 {
		c.direct = false
		return n, err
	}
	if c.kept.last() {
		_ = c.Conn.Close() // as was asked for while an answer was on its way
	}
	if c.direct && err != nil {
		err = io.EOF // the end of an idle connection, also if fasthttp has seen no request of it
	}
	return 0, err
}

// next is the next head, or a part of it.
func (c *headConn) next(p []byte) (int, error) {
	if len(c.rest) > 0 {
		done, err := c.serve(c.rest)
		if err != nil {
			return 0, err
		}
		c.rest = c.rest[done:]
		n := c.cut(p[:copy(p, c.rest)])
		if c.rest = c.rest[n:]; len(c.rest) == 0 {
			c.rest = nil // an idle connection holds no memory for it
		}
		if n > 0 {
			return n, nil
		}
	}
	for {
		read, err := c.read(p)
		n := c.cut(p[:read])
		if n < read {
			c.rest = append([]byte(nil), p[n:read]...)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// serve answers the hits that b begins with, and returns their bytes. It is called
// for all that is read, in order.
func (c *headConn) serve(b []byte) (done int, err error) {
	if c.handler == nil || len(b) == 0 {
		return 0, nil
	}
	was, ok := c.kept.hold()
	if !ok {
		return 0, net.ErrClosed
	}
	done, plain := c.handler.direct(c, b)
	if !plain {
		c.handler = nil
	}
	if done > 0 {
		c.direct = true
	}
	if !c.kept.release(was) {
		return done, net.ErrClosed
	}
	return done, c.broken
}

// renewEvery is how often the deadlines of answers that are not fasthttp's are set
// anew, which then strike as much too early.
const renewEvery = time.Second

// send writes an answer that is not fasthttp's, and sets the deadlines that
// fasthttp would set. now was just read.
func (c *headConn) send(answer []byte, now feed.Instant) {
	if c.renewed == 0 || time.Duration(now-c.renewed) >= renewEvery {
		c.renewed = now
		wall := time.Now()
		c.reading.wanted, c.writing.wanted = wall.Add(idleTimeout), wall.Add(writeTimeout)
		if c.kept.begun() {
			c.broken = c.reading.armAt(wall.Add(lookAgain), c.Conn.SetReadDeadline)
		}
	}
	if c.kept.begun() {
		n, err := transmit(c.kept.fd, answer)
		if answer = answer[n:]; len(answer) == 0 {
			return
		}
		if err != nil && !errors.Is(err, syscall.EAGAIN) {
			c.broken = err
			return
		}
	}
	if _, err := c.Write(answer); err != nil { // which waits
		c.broken = err
	}
}

// read reads from the connection what serve leaves of it. Once it has asked again
// as kept does, a wait is broken off for one more look, soon, since the last one
// may have missed the client's end. So is one in which send has answered, which
// sets the deadline for that: the wait goes on then until the one that is wanted.
func (c *headConn) read(p []byte) (int, error) {
	if !c.socket || !c.asked {
		if err := c.reading.arm(c.Conn.SetReadDeadline); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		done, failed := c.serve(p[:n])
		if failed != nil {
			return 0, failed
		}
		return copy(p, p[done:n]), err
	}
	for {
		at := c.reading.wanted
		if c.kept.begun() {
			if look := time.Now().Add(lookAgain); at.IsZero() || look.Before(at) {
				at = look
			}
		} else {
			c.renewed = 0 // so that the next answer sets the deadline for another look
		}
		if err := c.reading.armAt(at, c.Conn.SetReadDeadline); err != nil {
			return 0, err
		}
		n, err := c.kept.read(c, p)
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.reading.over(time.Now()) {
			return n, err
		}
	}
}

// Close implements io.Closer. An answer that serve is about to write goes out
// first.
func (c *headConn) Close() error {
	if !c.kept.close() {
		return nil
	}
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
	if len(b) > 0 {
		c.handler = nil // it never gets to see the middle of a head, which may look like one
	}
	return len(b)
}
