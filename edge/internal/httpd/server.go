package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	maxHead      = 32 << 10
	readTimeout  = 10 * time.Second
	writeTimeout = 10 * time.Second
	idleTimeout  = 75 * time.Second
	// drainTimeout is more than a client can draw out a head, so that nobody's slow
	// one makes a clean stop fail.
	drainTimeout = readTimeout + deadlineSlack + 4*time.Second
)

// Server is the public listener.
type Server struct {
	http     fasthttp.Server
	handler  *handler
	listener net.Listener
	drain    time.Duration
	draining atomic.Bool
}

// New makes a Server that answers by cfg. drain is for how long it goes on to
// accept connections after it was told to stop, so that a load balancer can
// turn away first. Requests being answered may outlive ctx, but not Run.
func New(ctx context.Context, cfg Config, drain time.Duration) *Server {
	s := &Server{drain: drain}
	h := newHandler(cfg, context.WithoutCancel(ctx), s.draining.Load)
	if cfg.Held != nil {
		s.handler = h
	}
	s.http = fasthttp.Server{
		Handler:                      h.serve,
		ErrorHandler:                 h.unreadable,
		ExpectHandler:                h.expected,
		Logger:                       silent{},
		Concurrency:                  cfg.MaxConns,
		ReadBufferSize:               maxHead,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		StreamRequestBody:            true, // a body is refused without waiting for more than its first part
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true,
		LazyRequestTime:              true,
	}
	return s
}

// Listen opens the listener; with a certificate it speaks TLS.
func (s *Server) Listen(ctx context.Context, addr string, cert *Certificate) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	ln = newPatient(ln)
	if cert != nil {
		ln = tls.NewListener(ln, cert.TLS())
	}
	s.listener = onePerRead{ln, s.handler}
	return nil
}

// Addr is where the server listens, after Listen.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close gives up a listener that was opened and never run; after Run it does
// nothing.
func (s *Server) Close() { _ = s.listener.Close() }

// Run answers until ctx ends; then, for the drain time, every answer closes its
// connection; then it stops accepting and waits for the requests in hand, at
// most drainTimeout.
func (s *Server) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	wait := time.NewTimer(s.drain)
	defer wait.Stop()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s while draining: %w", s.Addr(), err)
	case <-wait.C:
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := s.http.ShutdownWithContext(stop); err != nil {
		return fmt.Errorf("drain %s: %w", s.Addr(), err)
	}
	s.Close() // a Serve that has only begun since is not told by Shutdown
	if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serve %s until its end: %w", s.Addr(), err)
	}
	return nil
}

// unreadable answers what fasthttp could not read as a request.
func (h *handler) unreadable(ctx *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	var netErr net.Error
	switch {
	case errors.As(err, &small):
		plain(ctx, fasthttp.StatusRequestHeaderFieldsTooLarge)
	case errors.As(err, &netErr) && netErr.Timeout():
		plain(ctx, fasthttp.StatusRequestTimeout)
	default:
		plain(ctx, fasthttp.StatusBadRequest)
	}
	h.Metrics.answered(tierNone, ctx.Response.StatusCode(), 0)
}

// expected answers "Expect: 100-continue". No request here has a use for a
// body, but a GET may promise one that it never sends.
func (h *handler) expected(ctx *fasthttp.RequestCtx) int {
	if ctx.IsGet() || ctx.IsHead() {
		return fasthttp.StatusContinue
	}
	h.serve(ctx) // which refuses the method, or the client
	return ctx.Response.StatusCode()
}

// silent drops fasthttp's own log: it has a line for every broken connection.
type silent struct{}

func (silent) Printf(string, ...any) {}
