package ops

import (
	"io"
	"log"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Routes is the handler of a Server, for tests without a socket.
func Routes(health *Health, reg *prometheus.Registry) http.Handler {
	return routes(health, reg, log.New(io.Discard, "", 0))
}

// WithTimeouts returns a copy of s that has d for reading and writing.
func (s *Server) WithTimeouts(d time.Duration) *Server {
	with := *s
	with.timeouts.read, with.timeouts.write = d, d
	return &with
}
