package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"waypost/deploy/process"
)

// stopLimit is how long a service may take to stop after SIGTERM.
const stopLimit = 25 * time.Second

// Process is one service, which can be started, hurt and started again with the same environment and addresses.
// Safe for concurrent use, but for Start, Stop, Kill and Restart, which are one goroutine's.
type Process struct {
	Name string
	Ops  string // address of the ops listener

	binaries *Binaries
	binary   string
	args     []string
	env      map[string]string
	log      *logFile

	mu   sync.Mutex
	proc *process.Process // nil: not running, and not to be
}

func newProcess(tb testing.TB, binaries *Binaries, name, binary string, args []string, env ...map[string]string) *Process {
	tb.Helper()
	p := &Process{Name: name, Ops: freeAddr(tb), binaries: binaries, binary: binary, args: args, log: newLog(tb, name)}
	p.env = merged(append([]map[string]string{{"WAYPOST_OPS_LISTEN": p.Ops}}, env...)...)
	tb.Cleanup(func() { p.end(tb) })
	return p
}

// merged is all of them in one; the last one that has a name wins.
func merged(env ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, some := range env {
		maps.Copy(all, some)
	}
	return all
}

// Launch starts the process and does not wait for anything.
func (p *Process) Launch(tb testing.TB) {
	tb.Helper()
	path, err := p.binaries.Path(tb.Context(), p.binary)
	if err != nil {
		tb.Fatal(err)
	}
	proc, err := process.Start(tb.Context(), process.Spec{Name: p.Name, Path: path, Args: p.args, Env: p.environment(), Output: p.log.file})
	if err != nil {
		tb.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proc = proc
}

// environment is all that the process is told: nothing of this process' own environment. The race detector would hold
// every exit up for a second.
func (p *Process) environment() []string {
	env := []string{"GORACE=atexit_sleep_ms=0"}
	for name, value := range p.env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// Start starts the process and waits until it is ready.
func (p *Process) Start(tb testing.TB) {
	tb.Helper()
	p.Launch(tb)
	p.AwaitReady(tb)
}

// Stop ends the process by SIGTERM. It must go in time, and with exit status 0.
func (p *Process) Stop(tb testing.TB) {
	tb.Helper()
	proc := p.take()
	if proc == nil {
		tb.Errorf("stop %s: it does not run", p.Name)
		return
	}
	if err := stop(tb.Context(), proc); err != nil {
		tb.Errorf("stop %s: %v", p.Name, err)
	}
}

// Kill ends the process as a power cut would.
func (p *Process) Kill() {
	if proc := p.take(); proc != nil {
		proc.Kill()
	}
}

// Restart stops the process and starts it again.
func (p *Process) Restart(tb testing.TB) {
	tb.Helper()
	p.Stop(tb)
	p.Start(tb)
}

// Pause stops the process where it is: connections stay open, nothing answers.
func (p *Process) Pause() {
	if proc := p.current(); proc != nil {
		proc.Pause()
	}
}

// Resume lets a paused process go on.
func (p *Process) Resume() {
	if proc := p.current(); proc != nil {
		proc.Resume()
	}
}

// take hands the running process over to who ends it.
func (p *Process) take() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc := p.proc
	p.proc = nil
	return proc
}

func (p *Process) current() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proc
}

// alive is nil while the process runs.
func (p *Process) alive() error {
	proc := p.current()
	if proc == nil {
		return fmt.Errorf("%s is not started", p.Name)
	}
	select {
	case <-proc.Done():
		return ended(p.Name, proc)
	default:
		return nil
	}
}

// end stops what still runs at the test's end.
func (p *Process) end(tb testing.TB) {
	tb.Helper()
	proc := p.take()
	if proc == nil {
		return
	}
	select {
	case <-proc.Done():
		tb.Error(ended(p.Name, proc))
		return
	default:
	}
	p.logMetrics(tb)
	if err := stop(context.WithoutCancel(tb.Context()), proc); err != nil {
		tb.Errorf("stop %s: %v", p.Name, err)
	}
}

// ended is what became of a process that nobody stopped.
func ended(name string, proc *process.Process) error {
	if err := proc.Wait(); err != nil {
		return fmt.Errorf("%s ended by itself: %w", name, err)
	}
	return fmt.Errorf("%s ended by itself with exit status 0", name)
}

func stop(ctx context.Context, proc *process.Process) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return errors.Join(proc.Stop(ctx), proc.Wait())
}
