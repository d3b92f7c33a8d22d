package clicks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"syscall"
	"time"
)

// Flood is a closed loop over connections that are kept alive: each of them sends its next request when it has the
// answer to the last one. It is one goroutine on raw sockets, without a parser or a timer, so that it takes less of a
// core than any edge that it asks: what it reaches is then what the edge can do. Not safe for concurrent use.
type Flood struct {
	requests [][]byte
	poll     int // of epoll
	conns    map[int]*floodConn
	buf      [64 << 10]byte
}

// floodConn is one connection.
type floodConn struct {
	fd   int
	next int    // of the requests
	rest []byte // of an answer that has not come whole
}

// Flooded is what a flood got.
type Flooded struct {
	Answers int
	Took    time.Duration
}

// PerSecond are the answers in a second.
func (f Flooded) PerSecond() float64 { return float64(f.Answers) / f.Took.Seconds() }

// NewFlood opens so many connections to addr, each from an address of its own in 127.1.0.0/16: as many clients as
// connections. Each goes through all requests, which must be answered by heads alone, from another one on. Close ends
// them.
func NewFlood(addr string, conns int, requests [][]byte) (*Flood, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("flood: %w", err)
	}
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("flood: %w", err)
	}
	f := &Flood{requests: requests, poll: poll, conns: make(map[int]*floodConn)}
	for i := range conns {
		if err := f.connect(to, i, i*len(requests)/conns); err != nil {
			f.Close()
			return nil, fmt.Errorf("flood: connection %d to %s: %w", i, addr, err)
		}
	}
	return f, nil
}

func (f *Flood) connect(to netip.AddrPort, client, first int) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f.conns[fd] = &floodConn{fd: fd, next: first}
	from := &syscall.SockaddrInet4{Addr: [4]byte{127, 1, byte(client >> 8), byte(client)}} //nolint:gosec // of the low 16 bits
	event := &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}                   //nolint:gosec // a descriptor is a small number
	return errors.Join(
		syscall.Bind(fd, from),
		syscall.Connect(fd, &syscall.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}),
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1),
		syscall.SetNonblock(fd, true),
		syscall.EpollCtl(f.poll, syscall.EPOLL_CTL_ADD, fd, event),
	)
}

// Close closes the connections.
func (f *Flood) Close() {
	for fd := range f.conns {
		_ = syscall.Close(fd)
	}
	_ = syscall.Close(f.poll)
}

// maxEvents is how many connections are looked at between two looks at the clock.
const maxEvents = 256

// waitMillis bounds the wait for an answer, so that the clock is looked at.
const waitMillis = 50

// Run asks until ctx ends, then waits for the answers that are on their way. Every answer must be a redirect.
func (f *Flood) Run(ctx context.Context) (got Flooded, err error) {
	start := time.Now()
	for _, c := range f.conns {
		if err := f.ask(c); err != nil {
			return got, err
		}
	}
	var events [maxEvents]syscall.EpollEvent
	for open := len(f.conns); open > 0; {
		n, err := syscall.EpollWait(f.poll, events[:], waitMillis)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return got, fmt.Errorf("flood: %w", err)
		}
		more := ctx.Err() == nil
		for _, event := range events[:max(n, 0)] {
			c := f.conns[int(event.Fd)]
			whole, err := f.answered(c)
			switch {
			case err != nil:
				return got, fmt.Errorf("flood: %w", err)
			case !whole:
				continue
			}
			got.Answers++
			if !more {
				open--
				continue
			}
			if err := f.ask(c); err != nil {
				return got, err
			}
		}
	}
	got.Took = time.Since(start)
	return got, nil
}

// ask sends the next request. A socket with nothing on its way takes it whole.
func (f *Flood) ask(c *floodConn) error {
	request := f.requests[c.next%len(f.requests)]
	c.next++
	n, err := syscall.Write(c.fd, request)
	if err == nil && n < len(request) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("flood: request: %w", err)
	}
	return nil
}

// answered reads what has come and says whether the answer is whole.
func (f *Flood) answered(c *floodConn) (whole bool, err error) {
	n, err := syscall.Read(c.fd, f.buf[:])
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return false, nil
	case err != nil:
		return false, err
	case n == 0:
		return false, errors.New("the edge closed a connection")
	}
	answer := f.buf[:n]
	if len(c.rest) > 0 {
		c.rest = append(c.rest, answer...)
		answer = c.rest
	}
	if !bytes.HasSuffix(answer, []byte("\r\n\r\n")) {
		c.rest = append(c.rest[:0:0], answer...)
		return false, nil
	}
	c.rest = nil
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 302 ")) {
		return false, fmt.Errorf("got %.100q, want a redirect", answer)
	}
	return true, nil
}
