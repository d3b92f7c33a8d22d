package services

import (
	"math/rand/v2"
	"net"
	"time"
)

// Delay makes every chunk of bytes, in both directions, wait this long before it is passed on: a round trip takes at
// least twice as long. It holds for connections that are open, too. Zero ends it.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// Jitter makes every chunk of bytes wait up to this long beyond Delay, by a draw of its own each. Chunks of one
// connection and direction keep their order. Zero ends it.
func (p *Proxy) Jitter(most time.Duration) { p.jitter.Store(int64(most)) }

// Slow lets each connection pass this many bytes a second in each direction. Zero ends it.
func (p *Proxy) Slow(bytes int) { p.rate.Store(int64(bytes)) }

// Reset ends all connections as a machine does that has forgotten them: both sides get a RST in place of an end of
// file, and lose what was under way. New ones are let through.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		for _, side := range []net.Conn{l.client, l.server} {
			if tcp, ok := side.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // it may be closed already
			}
		}
		l.close()
	}
}

// held is how long a chunk of n bytes is to wait.
func (p *Proxy) held(n int) time.Duration {
	d := time.Duration(p.delay.Load())
	if most := p.jitter.Load(); most > 0 {
		d += time.Duration(rand.Int64N(most)) //nolint:gosec // spreads a test's delays
	}
	if rate := p.rate.Load(); rate > 0 {
		d += time.Duration(int64(n) * int64(time.Second) / rate)
	}
	return d
}
