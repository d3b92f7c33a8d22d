package peers

import (
	_ "embed" // for its configuration
	"testing"
)

//go:embed haproxy/haproxy.cfg
var haproxyConf string

// startHAProxy starts HAProxy with a map file of all links.
func startHAProxy(tb testing.TB, s *site) *Peer {
	tb.Helper()
	conf := s.config(tb, "haproxy.cfg", haproxyConf, map[string]any{"Addr": s.addr, "Links": s.table(tb, "links.map", "%s %s")})
	pid := s.run(tb, nil, find(tb, "haproxy", "haproxy"), "-db", "-f", conf)
	return &Peer{Name: s.name, Addr: s.addr, PIDs: []int{pid}}
}
