package positions

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Line is a TCP proxy that is as far away as it is told: every byte is held for the same time on its way, in both
// directions, however many are on their way already. Safe for concurrent use.
type Line struct {
	listener net.Listener
	to       atomic.Pointer[string] // nil: not known yet
	delay    atomic.Int64           // nanoseconds, one way
}

// dialLimit bounds the way from a line to where it leads.
const dialLimit = 5 * time.Second

// maxOnWay bounds the chunks that one direction of a connection holds; then its sender waits.
const maxOnWay = 4096

// NewLine listens on a free port of 127.0.0.1.
func NewLine(ctx context.Context) (*Line, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("line: %w", err)
	}
	return &Line{listener: l}, nil
}

// Addr is where the line begins, host and port.
func (l *Line) Addr() string { return l.listener.Addr().String() }

// To says where the line leads, for connections that are made from then on. Before, they are closed at once.
func (l *Line) To(addr string) { l.to.Store(&addr) }

// Delay holds what is sent from now on for d, one way.
func (l *Line) Delay(d time.Duration) { l.delay.Store(int64(d)) }

// Run carries connections until ctx ends, and returns when all are closed. To be called once.
func (l *Line) Run(ctx context.Context) error {
	var calls sync.WaitGroup
	defer calls.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.listener.Close() })()
	for {
		near, err := l.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = near.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("line: %w", err)
		case err != nil:
			continue // that connection's fault
		}
		calls.Go(func() { l.carry(ctx, near) })
	}
}

// carry is one connection's life.
func (l *Line) carry(ctx context.Context, near net.Conn) {
	defer near.Close() //nolint:errcheck // whichever end closes it first
	to := l.to.Load()
	if to == nil {
		return
	}
	dialer := net.Dialer{Timeout: dialLimit}
	far, err := dialer.DialContext(ctx, "tcp", *to)
	if err != nil {
		return // as a server that is not there looks like
	}
	defer far.Close() //nolint:errcheck // as above
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		_ = near.Close()
		_ = far.Close()
	})()
	var ways sync.WaitGroup
	for _, ends := range [][2]net.Conn{{near, far}, {far, near}} {
		onWay := make(chan chunk, maxOnWay)
		ways.Go(func() { l.send(ctx, ends[0], onWay) })
		ways.Go(func() {
			defer cancel() // the connection ends when one direction of it has
			arrive(ctx, ends[1], onWay)
		})
	}
	ways.Wait()
}

// chunk is what was read at once, and when it is to arrive.
type chunk struct {
	bytes []byte
	due   time.Time
}

// send reads until the sender closes.
func (l *Line) send(ctx context.Context, from net.Conn, onWay chan<- chunk) {
	defer close(onWay)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			c := chunk{bytes: append([]byte(nil), buf[:n]...), due: time.Now().Add(time.Duration(l.delay.Load()))}
			select {
			case onWay <- c:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// arrive writes each chunk when it is due, and returns after the last one.
func arrive(ctx context.Context, to net.Conn, onWay <-chan chunk) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c := range onWay {
		if wait := time.Until(c.due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		}
		if _, err := to.Write(c.bytes); err != nil {
			return
		}
	}
}
