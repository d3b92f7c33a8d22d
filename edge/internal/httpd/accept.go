package httpd

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// patient is a listener that waits where the process or the machine has run
// out of something, file descriptors above all. fasthttp ends its server on any
// error of Accept, so a client with many connections could end the edge.
type patient struct {
	net.Listener
	closed chan struct{}
	once   sync.Once
}

func newPatient(ln net.Listener) *patient {
	return &patient{Listener: ln, closed: make(chan struct{})}
}

const (
	firstWait = 5 * time.Millisecond
	lastWait  = time.Second
)

// Accept implements net.Listener.
func (p *patient) Accept() (net.Conn, error) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		c, err := p.Listener.Accept()
		if err == nil || !passing(err) {
			return c, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-p.closed:
			timer.Stop()
			return nil, net.ErrClosed
		}
	}
}

// Close implements net.Listener.
func (p *patient) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Listener.Close()
}

// passing tells errors that go by: of resources, and of a connection that was
// given up before it was accepted.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
