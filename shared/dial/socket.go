package dial

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// socket reads and writes a connection's socket by system calls of which the
// runtime takes no notice: they never wait, and one that it takes notice of after
// an idle moment wakes its monitor first, a thread that then takes turns with the
// caller, before the question has gone out. Only the waiting is the poller's. It is
// for one goroutine at a time.
type socket struct {
	syscall.RawConn

	in, out func(fd uintptr) (done bool) // made once
	p       []byte                       // what is to be read into, or what is left to be written
	n       int
	err     error

	until time.Time // how long to try before waiting; zero: once
	late  bool      // that was not long enough
}

func newSocket(raw syscall.RawConn) *socket {
	s := &socket{RawConn: raw}
	s.in, s.out = s.receive, s.transmit
	return s
}

// read is that of io.Reader. It looks for what may come until then before it
// waits, and says whether it has waited.
func (s *socket) read(p []byte, until time.Time) (n int, waited bool, err error) {
	if len(p) == 0 {
		return 0, false, nil
	}
	s.until, s.late = until, false
	n, err = s.do(s.Read, s.in, p)
	return n, s.late, err
}

// write is that of io.Writer.
func (s *socket) write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return s.do(s.Write, s.out, p)
}

func (s *socket) do(wait func(func(fd uintptr) bool) error, try func(fd uintptr) bool, p []byte) (int, error) {
	s.p, s.n, s.err = p, 0, nil
	err := wait(try) // a deadline's, or that of a connection that is closed
	s.p = nil
	if err == nil {
		err = s.err
	}
	return s.n, err
}

func (s *socket) receive(fd uintptr) (done bool) {
	n, errno := call(syscall.SYS_RECVFROM, fd, s.p, syscall.MSG_DONTWAIT)
	for errno == syscall.EAGAIN && !s.late {
		if s.until.IsZero() || !time.Now().Before(s.until) {
			s.late = true
			break
		}
		runtime.Gosched()
		n, errno = call(syscall.SYS_RECVFROM, fd, s.p, syscall.MSG_DONTWAIT)
	}
	switch {
	case errno == syscall.EAGAIN:
		return false
	case errno != 0:
		s.err = os.NewSyscallError("recvfrom", errno)
	case n == 0:
		s.err = io.EOF
	}
	s.n = n
	return true
}

func (s *socket) transmit(fd uintptr) (done bool) {
	for len(s.p) > 0 {
		n, errno := call(syscall.SYS_SENDTO, fd, s.p, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
		switch {
		case errno == syscall.EAGAIN:
			return false
		case errno != 0:
			s.err = os.NewSyscallError("sendto", errno)
			return true
		}
		s.n += n
		s.p = s.p[n:]
	}
	return true
}

// call is a system call for a p that is not empty, 0 being no error.
func call(number, fd uintptr, p []byte, flags uintptr) (int, syscall.Errno) {
	for {
		//nolint:gosec // the pointer is made in the call, as package unsafe has it
		n, _, errno := syscall.RawSyscall6(number, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flags, 0, 0)
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
