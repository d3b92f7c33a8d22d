package peers

import (
	"context"
	_ "embed" // for its configuration
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"waypost/bench/fleet"
)

//go:embed varnish/links.vcl
var varnishConf string

// varnishDisk is the room for its log in shared memory and its compiled configuration, in bytes.
const varnishDisk = 256 << 20

// startVarnish starts Varnish before a server that knows all links and that it asks once for each. Its folder is in
// memory, as its manual wants it.
func startVarnish(tb testing.TB, s *site) *Peer {
	tb.Helper()
	conf := s.config(tb, "links.vcl", varnishConf, map[string]string{"Port": backend(tb, s.links)})
	pid := s.run(tb, nil, find(tb, "varnishd", "varnish"),
		"-F", "-j", "none", "-T", "none", "-a", s.addr, "-f", conf, "-s", "malloc,1g", "-n", filepath.Join(fleet.Tmpfs(tb, varnishDisk, false), "varnish"),
		"-p", "thread_pools=1", "-p", "thread_pool_min=100", "-p", "timeout_idle=75")
	return &Peer{Name: s.name, Addr: s.addr, PIDs: []int{pid}}
}

// backend serves the links in this process until the test ends, and returns its port.
func backend(tb testing.TB, links []fleet.Link) (port string) {
	tb.Helper()
	targets := make(map[string]string, len(links))
	for _, l := range links {
		targets["/"+l.Code] = l.Target
	}
	var lc net.ListenConfig
	l, err := lc.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, ok := targets[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), stopLimit)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			tb.Errorf("backend: %v", err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			tb.Errorf("backend: %v", err)
		}
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}
