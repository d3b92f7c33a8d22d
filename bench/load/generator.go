package load

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// maxEvents is how many connections are looked at between two looks at the clock.
const maxEvents = 256

// patience is how long a plan waits for an answer unless it says otherwise.
const patience = 30 * time.Second

// Plan says what a Generator asks whom. Addr, Conns and Asks are required.
type Plan struct {
	Addr  string // IPv4 address and port of the server
	Conns int    // connections at once, each a client of its own: an address of 127.1.0.0/16
	Asks  []Ask

	// Classes names the kinds of answers whose times are kept apart, and Class says of an answer which one it is, by the
	// index of what was asked and the answer's head, which it does not keep. Nil: all are one.
	Classes []string
	Class   func(ask int, head []byte) int

	// Patience is the longest time without any answer while one is awaited, and for the last answers after a loop's end;
	// 0: 30 s.
	Patience time.Duration
}

// Generator sends a plan's requests over connections that are kept alive. It is one thread on raw sockets, with no
// parser of a library and no timer, so that it takes less of a core than most servers that it asks. It runs one loop
// at a time and is not safe for concurrent use. After an error there is nothing to do but to Close it.
type Generator struct {
	plan   Plan
	poll   int // of epoll
	conns  []conn
	buf    [maxAnswer]byte
	events [maxEvents]unix.EpollEvent
}

// New opens the connections. Each goes through all asks, from another one on.
func New(plan Plan) (*Generator, error) {
	to, err := netip.ParseAddrPort(plan.Addr)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if plan.Class == nil {
		plan.Classes, plan.Class = []string{"all"}, func(int, []byte) int { return 0 }
	}
	if plan.Patience == 0 {
		plan.Patience = patience
	}
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	g := &Generator{plan: plan, poll: poll}
	for i := range plan.Conns {
		if err := g.add(to, i); err != nil {
			return nil, fmt.Errorf("load: connection %d to %s: %w", i, plan.Addr, errors.Join(err, g.Close()))
		}
	}
	return g, nil
}

// add opens the i-th connection.
func (g *Generator) add(to netip.AddrPort, i int) error {
	fd, err := connect(to, i)
	if err != nil {
		return err
	}
	g.conns = append(g.conns, conn{fd: fd, next: i * len(g.plan.Asks) / g.plan.Conns, out: none})
	event := &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)} //nolint:gosec // the connection's index, below 65,536
	return unix.EpollCtl(g.poll, unix.EPOLL_CTL_ADD, fd, event)
}

// Close closes the connections.
func (g *Generator) Close() error {
	var failed []error
	for i := range g.conns {
		failed = append(failed, unix.Close(g.conns[i].fd))
	}
	return errors.Join(append(failed, unix.Close(g.poll))...)
}

// ask sends an ask that should be sent at due.
func (g *Generator) ask(c *conn, ask int, due time.Duration) error {
	c.out, c.due = ask, due
	return c.send(g.plan.Asks[ask].Request)
}
