package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// The limits of a listener on what clients can hold open.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 30 * time.Second // of a request with its body
	writeTimeout   = 2 * time.Minute  // from the end of the header to the end of the answer, a wait for edges included
	idleTimeout    = 2 * time.Minute
	stopTimeout    = 20 * time.Second // for requests in hand, at the end
	maxHeaderBytes = 32 << 10
)

// listener is one of the origin's HTTP listeners.
type listener struct {
	name   string
	net    net.Listener
	server *http.Server
	drain  time.Duration
	ending atomic.Bool // the signal to stop has come
}

// listen binds the address, so that a port in use is known at start; run must
// follow. drain is how long connections are still accepted once run's context
// has ended.
func listen(ctx context.Context, name, address string, h http.Handler, drain time.Duration, logger *slog.Logger) (*listener, error) {
	var lc net.ListenConfig
	bound, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s listener: %w", name, err)
	}
	l := &listener{name: name, net: bound, drain: drain}
	l.server = &http.Server{
		Handler:           l.leaving(h),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		// Requests in hand outlive the signal that stops the listener.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	return l, nil
}

// leaving makes every answer that is sent after the signal the last one of its
// connection, so that clients which keep theirs open move on during the drain.
// The server's own switch would close connections at once on which a request
// may be on its way.
func (l *listener) leaving(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last := &lastAnswer{ResponseWriter: w, ending: &l.ending}
		h.ServeHTTP(last, r)
		if !last.sent {
			last.WriteHeader(http.StatusOK) // as net/http would
		}
	})
}

// lastAnswer looks at the moment when the header is sent whether the listener is
// ending.
type lastAnswer struct {
	http.ResponseWriter
	ending *atomic.Bool
	sent   bool
}

// WriteHeader adds Connection: close where it is due.
func (w *lastAnswer) WriteHeader(status int) {
	if status >= http.StatusOK && !w.sent {
		w.sent = true
		if w.ending.Load() {
			w.Header().Set("Connection", "close")
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implies 200, as net/http has it.
func (w *lastAnswer) Write(b []byte) (int, error) {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *lastAnswer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// run serves until ctx ends, goes on for the drain, then stops accepting and
// lets requests in hand finish.
func (l *listener) run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- l.server.Serve(l.net) }()
	select {
	case err := <-ended:
		return fmt.Errorf("%s listener: %w", l.name, err)
	case <-ctx.Done():
		l.ending.Store(true)
	}
	pause := time.NewTimer(l.drain)
	defer pause.Stop()
	select {
	case err := <-ended:
		return fmt.Errorf("%s listener: %w", l.name, err)
	case <-pause.C:
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := l.server.Shutdown(bounded)
	if err != nil {
		err = errors.Join(fmt.Errorf("%s listener: stop: %w", l.name, err), l.server.Close())
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// address is what the listener is bound to, as host:port.
func (l *listener) address() string { return l.net.Addr().String() }
