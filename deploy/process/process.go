// Package process runs one child process: started, watched, paused, stopped, and never left behind.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// ErrKilled is what Stop returns for a process that did not go before its context ended.
var ErrKilled = errors.New("killed: it did not stop in time")

// pipeDelay bounds the wait for a dead process's output, which a grandchild may hold open.
const pipeDelay = 2 * time.Second

// Spec says what to run. Path, Args (without the program's name) and Name are required; the rest may be zero.
type Spec struct {
	Name string // in errors
	Path string
	Args []string
	Env  []string // complete environment, "K=V"; nil: that of this process
	Add  []string // to the environment, "K=V"; wins over what is there
	Dir  string

	// Output takes stdout and stderr. An *os.File is handed to the child as it is; any other writer is fed by a
	// goroutine that ends with the process.
	Output io.Writer

	Credential *syscall.Credential // nil: run as this process's user

	StopSignal  syscall.Signal // how Stop asks; zero: SIGTERM
	DeathSignal syscall.Signal // what the kernel sends when this process dies, however it dies; zero: SIGKILL

	// Ready is asked again and again, with Start's context and the child's id, until it returns nil; Start returns
	// then. Nil: at once.
	Ready func(ctx context.Context, pid int) error
}

// Process is a started child. All methods are safe for concurrent use.
type Process struct {
	spec Spec
	pid  int
	done chan struct{}
	err  error // written before done is closed
}

// Start runs s and returns once it is ready. When ctx ends first, or the process does, nothing is left running and
// the error tells which. After Start has returned, ctx has no more to do with the process.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if s.StopSignal == 0 {
		s.StopSignal = syscall.SIGTERM
	}
	if s.DeathSignal == 0 {
		s.DeathSignal = syscall.SIGKILL
	}
	p := &Process{spec: s, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.live(context.WithoutCancel(ctx), started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	if err := p.awaitReady(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// live starts the child and waits for it on one thread. The kernel ties a death signal to the thread that forked,
// not to the process, so this thread has to last as long as the child: it stays locked, and it ends with live.
func (p *Process) live(ctx context.Context, started chan<- error) {
	runtime.LockOSThread()
	defer close(p.done)

	cmd := exec.CommandContext(ctx, p.spec.Path, p.spec.Args...) //nolint:gosec // running what the caller names is the purpose
	cmd.Env, cmd.Dir = p.spec.Env, p.spec.Dir
	cmd.Env = append(cmd.Environ(), p.spec.Add...)
	cmd.Stdout, cmd.Stderr = p.spec.Output, p.spec.Output
	cmd.WaitDelay = pipeDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: p.spec.Credential,
		Pdeathsig:  p.spec.DeathSignal,
		// A group of its own: Ctrl-C in a terminal goes to the group in front, and stopping in order is our task.
		Setpgid: true,
	}
	err := cmd.Start()
	if err == nil {
		p.pid = cmd.Process.Pid
	}
	started <- err
	if err != nil {
		return
	}
	if err := cmd.Wait(); !errors.Is(err, exec.ErrWaitDelay) {
		p.err = err
	}
}

// awaitReady polls Ready. It leaves no process behind when it returns an error.
func (p *Process) awaitReady(ctx context.Context) error {
	if p.spec.Ready == nil {
		return nil
	}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := p.spec.Ready(ctx, p.pid)
		select {
		case <-p.done:
			return fmt.Errorf("%s ended before it was ready: %w", p.spec.Name, p.exit())
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended before it was ready: %w", p.spec.Name, p.exit())
		case <-ctx.Done():
			p.signal(syscall.SIGKILL)
			<-p.done
			return fmt.Errorf("%s not ready: %w: %w", p.spec.Name, ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// exit returns why the ended process ended, never nil.
func (p *Process) exit() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}

// PID returns the process id, also after the end.
func (p *Process) PID() int { return p.pid }

// Done is closed when the process has ended and its output is written.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait blocks until the process has ended and returns nil for exit status 0, else an *exec.ExitError.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Stop asks the process to end and waits. When ctx ends first it is killed, waited for, and ErrKilled returned.
// Stopping an ended process returns nil.
func (p *Process) Stop(ctx context.Context) error {
	p.signal(p.spec.StopSignal)
	p.signal(syscall.SIGCONT) // a paused process would never see the request
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	p.signal(syscall.SIGKILL)
	<-p.done
	return fmt.Errorf("stop %s: %w", p.spec.Name, ErrKilled)
}

// Kill ends the process and everything that descends from it as a power cut would, and waits for it.
func (p *Process) Kill() {
	p.signalTree(syscall.SIGKILL)
	<-p.done
}

// Pause stops the process and its descendants where they are (SIGSTOP): connections stay open, nothing answers.
func (p *Process) Pause() { p.signalTree(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() { p.signalTree(syscall.SIGCONT) }
