package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// timeouts of the listener.
type timeouts struct {
	header, read, write, idle, stop time.Duration
}

const maxHeaderBytes = 16 << 10

// Server is the side listener of a service. It is for operators: its address
// must not be reachable by visitors.
type Server struct {
	addr     string
	handler  http.Handler
	logger   *slog.Logger
	timeouts timeouts
	listener net.Listener
}

// New returns a Server for addr (host:port, port 0 for a free one) that shows
// health and reg and logs its own faults to logger.
func New(addr string, health *Health, reg *prometheus.Registry, logger *slog.Logger) *Server {
	faults := slog.NewLogLogger(logger.Handler(), slog.LevelWarn)
	return &Server{
		addr:    addr,
		handler: routes(health, reg, faults),
		logger:  logger,
		timeouts: timeouts{
			header: 5 * time.Second, read: 10 * time.Second, write: 10 * time.Second,
			idle: time.Minute, stop: 5 * time.Second,
		},
	}
}

// Listen binds the address, so that a port in use is known at start. Run must
// follow, it closes the listener. Listen is called once, before Run and Addr.
func (s *Server) Listen(ctx context.Context) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("ops listener: %w", err)
	}
	s.listener = listener
	return nil
}

// Addr is the bound address as host:port, after Listen.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run serves until ctx ends, then ends profiles being taken, lets other
// requests finish for at most 5 s and returns nil. It must outlive the rest
// of the service, to show that it drains.
func (s *Server) Run(ctx context.Context) error {
	if s.listener == nil {
		return errors.New("ops listener: run before listen")
	}
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.timeouts.header,
		ReadTimeout:       s.timeouts.read,
		WriteTimeout:      s.timeouts.write,
		IdleTimeout:       s.timeouts.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("ops listener: %w", err)
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeouts.stop)
	defer cancel()
	err := server.Shutdown(bounded)
	if err != nil {
		err = errors.Join(fmt.Errorf("ops listener: stop: %w", err), server.Close())
	}
	<-ended //nolint:errcheck // http.ErrServerClosed, after Shutdown or Close
	return err
}
