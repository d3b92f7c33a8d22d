// Package freeport finds free ports of 127.0.0.1 for servers that are started apart and told where to listen.
package freeport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports lie below those that Linux gives to outgoing connections (32768 and up, ip_local_port_range): a server that
// is killed and started again finds its port still free.
const (
	first = 12000
	count = 20000
)

// ErrNone means that no port was found.
var ErrNone = errors.New("no free port on 127.0.0.1")

// claims are the UDP sockets behind the ports given out. Nothing here speaks UDP: the socket keeps everybody else who
// asks, in this process or another, from the port of its number until this process ends, however it ends.
var claims struct { //nolint:gochecknoglobals // a claim is the whole process'
	sync.Mutex

	held []net.PacketConn
}

// Find returns the TCP address "127.0.0.1:port" of a port that nobody listens on and that nobody else was or will be
// given while this process lives. Safe for concurrent use.
func Find(ctx context.Context) (string, error) {
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", first+rand.N(count)) //nolint:gosec // any port will do
		if Claim(ctx, addr) {
			return addr, nil
		}
	}
	return "", ErrNone
}

// Claim reports whether nobody listens on addr, "127.0.0.1:port", and nobody has claimed it; it is then claimed as by
// Find. Safe for concurrent use.
func Claim(ctx context.Context, addr string) bool {
	var lc net.ListenConfig
	held, err := lc.ListenPacket(ctx, "udp", addr)
	if err != nil {
		return false
	}
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		_ = held.Close()
		return false
	}
	claims.Lock()
	claims.held = append(claims.held, held)
	claims.Unlock()
	return l.Close() == nil
}
