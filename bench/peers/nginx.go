package peers

import (
	_ "embed" // for its configuration
	"testing"
)

//go:embed nginx/nginx.conf
var nginxConf string

// limit is a bucket of nginx' limiter for every client.
type limit struct {
	rate  int // requests a second
	burst int // requests beyond it
}

// startNginx starts nginx with a map of all links, and a limiter as generous as an edge's may be. Its maps take no
// notice of case, so codes must differ in more.
func startNginx(tb testing.TB, s *site) *Peer {
	tb.Helper()
	return startLimited(tb, s, limit{1_000_000, 1_000_000})
}

// startLimited is startNginx with another limit.
func startLimited(tb testing.TB, s *site, l limit) *Peer {
	tb.Helper()
	conf := s.config(tb, "nginx.conf", nginxConf, map[string]any{
		"Dir": s.dir, "Addr": s.addr, "Links": s.table(tb, "links.map", `"%s" "%s";`),
		"Rate": l.rate, "Burst": l.burst,
		"Slots": max(2*len(s.links), 4096), // so that it finds a table that fits at once
	})
	pid := s.run(tb, nil, find(tb, "nginx", "nginx"), "-p", s.dir, "-c", conf, "-e", s.path("error.log"))
	return &Peer{Name: s.name, Addr: s.addr, PIDs: []int{pid}}
}
