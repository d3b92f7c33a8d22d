package peers

import (
	"testing"

	"waypost/bench/fleet"
)

// Name names a peer, as it stands in reports.
type Name string

// What an edge is measured beside.
const (
	Nginx     Name = "nginx"
	HAProxy   Name = "HAProxy"
	Varnish   Name = "Varnish"
	Bare      Name = "bare fasthttp"
	Epoll     Name = "epoll in C"
	Express   Name = "Express"
	RedisOnly Name = "Redis-only"
)

// Peer is a running server that redirects by links.
type Peer struct {
	Name Name
	Addr string
	PIDs []int // what these processes and their children use is what the peer costs

	// Constant says that it redirects whatever it is asked for to the first link's target, in as many bytes as an edge.
	Constant bool

	Store string // URL of its Redis; "" where it has none
}

// Anywhere is no core in particular.
const Anywhere = -1

// Start starts a peer with links of the default domain, pins all of it to a core, and ends it at the test's end. It
// returns once the first link is answered. A program that is missing fails the test and says what to install.
func Start(tb testing.TB, name Name, links []fleet.Link, core int) *Peer {
	tb.Helper()
	s := newSite(tb, name, links, core)
	switch name {
	case Nginx:
		return startNginx(tb, s)
	case HAProxy:
		return startHAProxy(tb, s)
	case Varnish:
		return startVarnish(tb, s)
	case Bare:
		return startBare(tb, s)
	case Epoll:
		return startEpoll(tb, s)
	case Express:
		return startExpress(tb, s)
	case RedisOnly:
		return startRedisOnly(tb, s)
	default:
		tb.Fatalf("no peer is called %q", name)
		return nil
	}
}
