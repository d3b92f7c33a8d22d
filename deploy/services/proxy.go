package services

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy passes TCP connections on to one upstream address and can delay, slow, reset, cut and count them. Safe for
// concurrent use.
type Proxy struct {
	upstream string
	listener net.Listener
	owners   sync.WaitGroup // every goroutine of the proxy

	delay       atomic.Int64 // nanoseconds
	jitter      atomic.Int64 // nanoseconds
	rate        atomic.Int64 // bytes a second; 0: as many as there are
	connections atomic.Int64
	sent        atomic.Int64 // bytes client to server
	received    atomic.Int64 // bytes server to client
	roundTrips  atomic.Int64

	mu     sync.Mutex
	cut    bool
	closed bool
	open   map[*pipe]struct{}
}

// pipe is one connection of a client and its counterpart to the upstream.
type pipe struct {
	client, server net.Conn
	done           chan struct{} // closed with the connections
	once           sync.Once
	answered       atomic.Bool // bytes from the server were the last to pass
}

// NewProxy listens on a free port of 127.0.0.1 and passes connections on to upstream until the test ends.
func NewProxy(tb testing.TB, upstream string) *Proxy {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(tb.Context(), "tcp", addr(0))
	if err != nil {
		tb.Fatalf("proxy: %v", err)
	}
	p := &Proxy{upstream: upstream, listener: l, open: make(map[*pipe]struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	p.owners.Go(func() { p.accept(ctx) })
	tb.Cleanup(func() {
		cancel()
		p.close()
		p.owners.Wait()
	})
	return p
}

// Addr returns "127.0.0.1:port".
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut closes all connections and refuses new ones (accepted and closed at once) until Heal.
func (p *Proxy) Cut() { p.setCut(true) }

// Heal lets new connections through again.
func (p *Proxy) Heal() { p.setCut(false) }

// Connections returns how many connections were passed on so far.
func (p *Proxy) Connections() int64 { return p.connections.Load() }

// BytesSent returns how many bytes came from clients so far.
func (p *Proxy) BytesSent() int64 { return p.sent.Load() }

// BytesReceived returns how many bytes came from the server so far.
func (p *Proxy) BytesReceived() int64 { return p.received.Load() }

// RoundTrips returns how many batches of requests passed so far: on each connection, one for every time bytes of the
// client followed bytes of the server (or the connection's start). A pipeline that is written before its first answer
// counts as one. The handshake of a new connection counts as well, so compare two readings around a request that
// finds its connection made (go-redis keeps one pool for commands and another one for pipelines: warm both).
func (p *Proxy) RoundTrips() int64 { return p.roundTrips.Load() }

func (p *Proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.owners.Go(func() { p.serve(ctx, client) })
	}
}

// serve passes one connection on and returns when both directions are closed.
func (p *Proxy) serve(ctx context.Context, client net.Conn) {
	l := &pipe{client: client, done: make(chan struct{})}
	l.answered.Store(true) // the first bytes of the client begin a round trip
	defer l.close()
	dialer := net.Dialer{Timeout: 5 * time.Second}
	server, err := dialer.DialContext(ctx, "tcp", p.upstream)
	if err != nil {
		return // the client sees what a dead server looks like
	}
	l.server = server
	if !p.add(l) {
		_ = server.Close()
		return
	}
	defer p.remove(l)
	p.connections.Add(1)
	var directions sync.WaitGroup
	directions.Go(func() {
		p.pass(l, client, server, func(n int) {
			p.sent.Add(int64(n))
			if l.answered.Swap(false) {
				p.roundTrips.Add(1)
			}
		})
	})
	directions.Go(func() {
		p.pass(l, server, client, func(n int) {
			p.received.Add(int64(n))
			l.answered.Store(true)
		})
	})
	directions.Wait()
}

// pass copies from one side to the other, counting before each chunk is passed on, and closes both at the end.
func (p *Proxy) pass(l *pipe, from, to net.Conn, count func(n int)) {
	defer l.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			count(n)
			if !l.wait(p.held(n)) {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait returns false when the pipe is closed first.
func (l *pipe) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.done:
		return false
	}
}

func (l *pipe) close() {
	l.once.Do(func() {
		close(l.done)
		_ = l.client.Close()
		if l.server != nil {
			_ = l.server.Close()
		}
	})
}

func (p *Proxy) add(l *pipe) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut || p.closed {
		return false
	}
	p.open[l] = struct{}{}
	return true
}

func (p *Proxy) remove(l *pipe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, l)
}

func (p *Proxy) setCut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		p.closeOpen()
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.closeOpen()
	if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return
	}
}

// closeOpen closes every open pipe; p.mu is held.
func (p *Proxy) closeOpen() {
	for l := range p.open {
		l.close()
	}
}
