// Package dial makes connections on which many short questions are asked one
// after the other.
package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// slack is how late a deadline may strike.
	slack = 10 * time.Millisecond
	// rested is for how long a connection must have been idle before it is looked at.
	rested = 10 * time.Millisecond
)

// Dialer opens a connection, as that of go-redis does.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// Sparing makes a dialer's connections spare what a driver does around every
// question: to set two deadlines and clear them, and to look whether the other
// side has closed the connection, which is a system call and finds nothing where
// an answer came a moment ago. A deadline strikes up to 10 ms late; a connection
// that has rested for 10 ms is looked at, so that those which the end of a server
// has broken are found when it is back.
//
// Nor does a question wait until the runtime has woken its monitor, as it does for
// calls that may wait; and where questions are few, an answer is watched for some
// microseconds before anybody goes to sleep over it (watch). What is no plain
// socket, such as TLS, is left as it is.
func Sparing(dial Dialer) Dialer {
	watch := newWatch()
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		conn, ok := c.(syscall.Conn)
		if !ok {
			return c, nil
		}
		raw, err := conn.SyscallConn()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("dial %s: %w", addr, err), c.Close())
		}
		return &sparing{Conn: c, questions: newSocket(raw), answers: newSocket(raw), watch: watch}, nil
	}
}

// sparing is such a connection. It is one goroutine's at a time, or one's that reads
// and one's that writes, each of which sets a deadline before the call that it is
// for: no other call is ended by it.
type sparing struct {
	net.Conn
	questions, answers *socket
	watch              *watch

	reading, writing deadline
	asked            atomic.Bool // something was written, and nothing read since
	used             time.Time   // when something was last read
}

// deadline is one of a connection's two.
type deadline struct {
	wanted time.Time // zero: none
	armed  time.Time // as it is set
}

// arm makes the wanted deadline hold for a call that begins now. One that was
// wanted before holds too if it strikes no earlier, and not too late.
func (d *deadline) arm(set func(time.Time) error) error {
	switch late := d.armed.Sub(d.wanted); {
	case d.wanted.IsZero() && d.armed.IsZero(), !d.wanted.IsZero() && late >= 0 && late <= slack:
		return nil
	case d.wanted.IsZero():
		d.armed = time.Time{}
	default:
		d.armed = d.wanted.Add(slack)
	}
	return set(d.armed)
}

// SetReadDeadline implements net.Conn.
func (c *sparing) SetReadDeadline(t time.Time) error {
	c.reading.wanted = t
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *sparing) SetWriteDeadline(t time.Time) error {
	c.writing.wanted = t
	return nil
}

// SetDeadline implements net.Conn.
func (c *sparing) SetDeadline(t time.Time) error {
	c.reading.wanted, c.writing.wanted = t, t
	return nil
}

// Read implements io.Reader.
func (c *sparing) Read(p []byte) (int, error) {
	if err := c.reading.arm(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	var until time.Time
	if c.asked.Swap(false) {
		until = c.watch.begin(time.Now())
	}
	n, waited, err := c.answers.read(p, until)
	if !until.IsZero() {
		c.watch.end(!waited)
	}
	c.used = time.Now()
	return n, err
}

// Write implements io.Writer.
func (c *sparing) Write(p []byte) (int, error) {
	if err := c.writing.arm(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	c.asked.Store(true)
	return c.questions.write(p)
}

// SyscallConn implements syscall.Conn.
func (c *sparing) SyscallConn() (syscall.RawConn, error) { return looked{c.answers.RawConn, c}, nil }

// looked is the socket of a connection to whoever looks at it.
type looked struct {
	syscall.RawConn

	conn *sparing
}

// Read lets a look that waits for nothing happen if the connection has rested.
func (l looked) Read(look func(fd uintptr) (done bool)) error {
	if time.Since(l.conn.used) < rested {
		return nil
	}
	// What is armed may have struck meanwhile.
	if err := l.conn.reading.arm(l.conn.Conn.SetReadDeadline); err != nil {
		return err
	}
	return l.RawConn.Read(look)
}
