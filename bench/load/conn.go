package load

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// conn is a connection that is kept alive, with one request at most on its way.
type conn struct {
	fd   int
	next int           // of the asks, in a closed loop
	out  int           // the ask on its way; none: nothing is
	due  time.Duration // when that should have been sent, since the run's start
	rest []byte        // of an answer that has not come whole
}

// none stands for no ask.
const none = -1

// connect opens a connection from the client-th address of 127.1.0.0/16.
func connect(to netip.AddrPort, client int) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	from := &unix.SockaddrInet4{Addr: [4]byte{127, 1, byte(client >> 8), byte(client)}} //nolint:gosec // of the low 16 bits
	// One after the other: an error leaves the rest undone.
	if err = unix.Bind(fd, from); err == nil {
		err = unix.Connect(fd, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())})
	}
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// send sends a request. A socket with nothing on its way takes it whole.
func (c *conn) send(request []byte) error {
	n, err := unix.Write(c.fd, request)
	if err == nil && n < len(request) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	return nil
}

// receive reads what has come into buf, of maxAnswer bytes. The answer is the caller's until the next call.
func (c *conn) receive(buf []byte) (a answer, whole bool, err error) {
	n, err := unix.Read(c.fd, buf)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return answer{}, false, nil
	case err != nil:
		return answer{}, false, fmt.Errorf("answer: %w", err)
	case n == 0:
		return answer{}, false, errors.New("the server closed a connection")
	case c.out == none:
		return answer{}, false, fmt.Errorf("an answer to no request: %.100q", buf[:n])
	}
	got := buf[:n]
	if len(c.rest) > 0 {
		c.rest = append(c.rest, got...)
		got = c.rest
	}
	if a, whole, err = read(got); err != nil || whole {
		c.rest = c.rest[:0]
		return a, whole, err
	}
	if len(c.rest) == 0 {
		c.rest = append(c.rest, got...)
	}
	return answer{}, false, nil
}
