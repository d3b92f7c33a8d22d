package services

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"waypost/deploy/freeport"
	"waypost/deploy/process"
)

// startLimit bounds one start of a server, stopLimit one polite stop.
const (
	startLimit = 30 * time.Second
	stopLimit  = 10 * time.Second
)

// logName is the file in a server's folder that takes its output when no writer was given.
const logName = "server.log"

// host is where every server listens. Nothing here is ever reachable from another machine.
const host = "127.0.0.1"

// server is what PostgreSQL, Redis and NATS have in common: one process at one address that can be started again
// there. Its methods are safe for concurrent use; Restart and Stop wait for each other.
type server struct {
	name  string
	port  int
	start func(ctx context.Context) (*process.Process, error)

	mu   sync.Mutex // held over Stop and Restart, so that there is at most one process
	proc *process.Process
}

// Addr returns "127.0.0.1:port". It stays the same over Restart.
func (s *server) Addr() string { return addr(s.port) }

// Port returns the TCP port.
func (s *server) Port() int { return s.port }

// PID returns the process id, of the newest process after a Restart.
func (s *server) PID() int { return s.current().PID() }

// Done is closed when the process that runs now has ended. A Restart makes a new channel.
func (s *server) Done() <-chan struct{} { return s.current().Done() }

// Wait blocks until the process that runs now has ended; nil for exit status 0.
func (s *server) Wait() error { return s.current().Wait() }

// Stop asks the process to end and waits until it has. When ctx ends first the process is killed and the error is
// process.ErrKilled. Stopping twice is fine.
func (s *server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.Stop(ctx)
}

// Kill ends the process as a power cut would (SIGKILL, its children too) and waits for it.
func (s *server) Kill() { s.current().Kill() }

// Pause stops the process where it is (SIGSTOP): connections stay open, nothing answers.
func (s *server) Pause() { s.current().Pause() }

// Resume lets a paused process go on.
func (s *server) Resume() { s.current().Resume() }

// Restart stops the process if it runs, and starts it again on the same port with the same data.
func (s *server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stopping, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	if err := s.proc.Stop(stopping); err != nil && !errors.Is(err, process.ErrKilled) {
		return err
	}
	proc, err := s.startAgain(ctx)
	if err != nil {
		return fmt.Errorf("restart %s: %w", s.name, err)
	}
	s.proc = proc
	return nil
}

// startAgain tries for a while: what a killed PostgreSQL leaves behind, its backends and their shared memory, outlives
// it by a moment, and the next one refuses to start beside it.
func (s *server) startAgain(ctx context.Context) (*process.Process, error) {
	const tries, pause = 20, 250 * time.Millisecond
	for try := 1; ; try++ {
		proc, err := s.start(ctx)
		if err == nil || try == tries || ctx.Err() != nil {
			return proc, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// Process returns the process that runs now.
func (s *server) Process() *process.Process { return s.current() }

func (s *server) current() *process.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// launch starts the first process. With a wanted port it tries that port only; with port 0 it takes a free one, and
// another one if somebody was faster between looking and binding.
func (s *server) launch(ctx context.Context, wanted int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var failed error
	for range 5 {
		s.port = wanted
		if wanted == 0 {
			port, err := freePort(ctx)
			if err != nil {
				return err
			}
			s.port = port
		}
		proc, err := s.start(ctx)
		if err == nil {
			s.proc = proc
			return nil
		}
		failed = err
		if wanted != 0 || ctx.Err() != nil {
			break
		}
	}
	return failed
}

func addr(port int) string { return fmt.Sprintf("%s:%d", host, port) }

// freePort returns a port that is this process' until it ends.
func freePort(ctx context.Context) (int, error) {
	free, err := freeport.Find(ctx)
	if err != nil {
		return 0, err
	}
	at, err := netip.ParseAddrPort(free)
	return int(at.Port()), err
}

// output opens what takes a server's words: the given writer, else a file in dir. The file is closed with the
// returned function once the child has its own descriptor.
func output(given io.Writer, dir string) (w io.Writer, closeFile func(), err error) {
	if given != nil {
		return given, func() {}, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, logName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // the server's own folder
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

// withLog adds the end of the server's own log to err: the reason is nearly always there.
func withLog(err error, dir string) error {
	if err == nil {
		return nil
	}
	const tail = 2048
	b, readErr := os.ReadFile(filepath.Join(dir, logName)) //nolint:gosec // a file in our own folder
	if readErr != nil || len(b) == 0 {
		return err
	}
	return fmt.Errorf("%w; its log ends:\n%s", err, b[max(0, len(b)-tail):])
}
