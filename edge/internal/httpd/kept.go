package httpd

import (
	"io"
	"iter"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// kept reads a connection that is kept alive, and saves the read that finds
// nothing.
//
// A read of net.Conn tries first and waits then, so that each request costs a
// system call that says "not yet". Only the first try of a syscall.RawConn's
// Read is needed: it comes after the poller's note of the descriptor was
// cleared, and whatever arrives after a try leaves a new one. So one RawConn.Read
// lasts as long as the connection, in a coroutine: it tries, hands out what it
// got, and at the next turn waits before it tries.
//
// The kernel tells of what comes, and of the end, once each. A try that filled
// its memory may have left something behind, so the next one does not wait. One
// that did not has emptied the socket, but for one thing: an end that had come
// already when the try was made. Most who send all they have and end their side do
// so with the first request, which is therefore read the usual way. Later, such an
// end is found by another try, lookAgain after the last one: the kernel does not
// tell of it even when the client closes its socket, and it would hold its
// connection until the idle timeout.
type kept struct {
	state atomic.Int32
	next  func() (n int, ok bool) // nil: not begun, or ended
	stop  func()
	p     []byte // where to read to
	fd    int    // the socket's, open while the coroutine lasts
	err   error  // that ended the coroutine
}

// lookAgain is how long a kept connection waits before it tries once more,
// deadlineSlack not counted.
const lookAgain = 2 * time.Second

// States of kept. One goroutine reads and answers, and owns everything while it
// does; any may close.
const (
	keptIdle      int32 = iota
	keptReading         // or waiting
	keptAnswering       // what was read, before as after idle or reading
	keptClosing         // when that is done
	keptClosed
)

// begun is for the goroutine that reads.
func (k *kept) begun() bool { return k.next != nil }

// begin starts the coroutine on a connection; not if that is no socket.
func (k *kept) begin(c *headConn) bool {
	socket, ok := c.Conn.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	k.next, k.stop = iter.Pull(func(yield func(int) bool) {
		var ended error
		err := raw.Read(func(fd uintptr) (done bool) {
			k.fd = int(fd)
			done, ended = k.try(c.serve, yield)
			return done
		})
		if k.err = err; err == nil {
			k.err = ended
		}
	})
	return true
}

// try reads, and hands out what serve leaves of it, until it has to wait: then it
// is not done.
func (k *kept) try(serve func([]byte) (int, error), yield func(int) bool) (done bool, ended error) {
	for {
		n, err := receive(k.fd, k.p)
		switch {
		case err == syscall.EAGAIN: //nolint:errorlint // a bare errno
			return false, nil
		case err != nil:
			return true, err
		case n == 0:
			return true, io.EOF
		}
		full := n == len(k.p) // k.p is another one after yield
		served, err := serve(k.p[:n])
		if err != nil {
			return true, err
		}
		if n = copy(k.p, k.p[served:n]); n > 0 && !yield(n) {
			return true, net.ErrClosed
		}
		if !full {
			return false, nil
		}
	}
}

// read implements io.Reader for a p that is not empty. It begins with c.
func (k *kept) read(c *headConn, p []byte) (int, error) {
	if !k.state.CompareAndSwap(keptIdle, keptReading) {
		return 0, net.ErrClosed
	}
	n, err := k.turn(c, p)
	if !k.state.CompareAndSwap(keptReading, keptIdle) { // closed meanwhile, which left the rest to this goroutine
		k.end()
	}
	return n, err
}

func (k *kept) turn(c *headConn, p []byte) (int, error) {
	if k.next == nil && !k.begin(c) {
		return c.Conn.Read(p)
	}
	k.p = p
	n, ok := k.next()
	k.p = nil
	if !ok {
		k.next, k.stop = nil, nil // what a deadline has ended may go on
		return 0, k.err
	}
	return n, nil
}

// hold keeps the connection open for an answer, which release ends; not ok if it
// is closed. It is for the goroutine that reads.
func (k *kept) hold() (was int32, ok bool) {
	was = k.state.Load()
	return was, (was == keptIdle || was == keptReading) && k.state.CompareAndSwap(was, keptAnswering)
}

// release is false if the connection was to be closed meanwhile: then nothing more
// may be read, and last says so.
func (k *kept) release(was int32) bool { return k.state.CompareAndSwap(keptAnswering, was) }

// last is true, once, for a connection whose closing was left to the goroutine
// that reads.
func (k *kept) last() bool {
	if !k.state.CompareAndSwap(keptClosing, keptClosed) {
		return false
	}
	k.end()
	return true
}

// close ends the coroutine, or leaves that to the goroutine that reads. The
// connection must be closed after it, which ends a wait, and waits for the
// coroutine's hold on it; not if close is false: then the goroutine that reads
// closes it when its answer is out.
func (k *kept) close() bool {
	for {
		was, next := k.state.Load(), keptClosed
		if was == keptAnswering || was == keptClosing {
			next = keptClosing
		}
		if !k.state.CompareAndSwap(was, next) {
			continue
		}
		if was == keptIdle {
			k.end()
		}
		return next == keptClosed
	}
}

func (k *kept) end() {
	if k.stop != nil {
		k.stop()
	}
}
