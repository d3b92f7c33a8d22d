package httpd

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

// failing is a listener whose Accept gives these errors, one after the other.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	err := f.errs[0]
	f.errs = f.errs[1:]
	if err == nil {
		c, _ := net.Pipe()
		return c, nil
	}
	return nil, err
}

func (f *failing) Close() error { return nil }

func accept4(errno syscall.Errno) error {
	return &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", errno)}
}

func TestAcceptWaitsForResources(t *testing.T) {
	t.Parallel()
	ln := newPatient(&failing{errs: []error{accept4(syscall.EMFILE), accept4(syscall.ENFILE), accept4(syscall.ECONNABORTED), nil}})
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestAcceptEndsWithTheListener(t *testing.T) {
	t.Parallel()
	if _, err := newPatient(&failing{errs: []error{net.ErrClosed}}).Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got error %v, want net.ErrClosed", err)
	}
	full := &failing{}
	for range 100 {
		full.errs = append(full.errs, accept4(syscall.EMFILE))
	}
	ln := newPatient(full)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed while waiting: got error %v, want net.ErrClosed", err)
	}
}
