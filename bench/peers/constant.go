package peers

import (
	_ "embed" // for its source
	"fmt"
	"net/http"
	"testing"
	"time"
)

//go:embed epoll/epoll.c
var epollSource []byte

// cacheStatus is what an edge in the region eu says of a hit in its memory.
const cacheStatus = "waypost-eu; hit; detail=l1"

// startBare builds and starts fasthttp alone.
func startBare(tb testing.TB, s *site) *Peer {
	tb.Helper()
	program := build(tb, s, "waypost/bench/peers/bare")
	pid := s.run(tb, []string{"GOMAXPROCS=1"}, program, "-listen", s.addr, "-location", s.links[0].Target, "-cache-status", cacheStatus)
	return &Peer{Name: s.name, Addr: s.addr, PIDs: []int{pid}, Constant: true}
}

// startEpoll builds and starts the loop in C.
func startEpoll(tb testing.TB, s *site) *Peer {
	tb.Helper()
	program := s.path("epoll")
	command(tb, s.dir, "gcc", "-O2", "-Wall", "-o", program, s.write(tb, "epoll.c", epollSource))
	answer := fmt.Sprintf("HTTP/1.1 302 Found\r\nDate: %s\r\nContent-Length: 0\r\nLocation: %s\r\nCache-Control: no-store\r\nCache-Status: %s\r\n\r\n",
		time.Now().UTC().Format(http.TimeFormat), s.links[0].Target, cacheStatus)
	pid := s.run(tb, nil, program, s.port(), s.write(tb, "answer", []byte(answer)))
	return &Peer{Name: s.name, Addr: s.addr, PIDs: []int{pid}, Constant: true}
}

// build builds a program of this workspace as it would be released.
func build(tb testing.TB, s *site, pkg string) (path string) {
	tb.Helper()
	path = s.path("program")
	command(tb, "", "go", "build", "-o", path, pkg)
	return path
}
