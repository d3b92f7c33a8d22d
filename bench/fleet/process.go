package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"waypost/deploy/process"
)

// stopLimit is how long a service may take to stop after SIGTERM.
const stopLimit = 15 * time.Second

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

func newProcess(t testing.TB, binaries *Binaries, name, binary string, args []string, env ...map[string]string) *Process {
	t.Helper()
	p := &Process{Name: name, Ops: freeAddr(t), binaries: binaries, binary: binary, args: args, log: newLog(t, name)}
	p.env = merged(append([]map[string]string{{"WAYPOST_OPS_LISTEN": p.Ops}}, env...)...)
	t.Cleanup(func() { p.end(t) })
	return p
}

// merged is all of them in one; the last one that has a name wins.
func merged(env ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, some := range env {
		for name, value := range some {
			all[name] = value
		}
	}
	return all
}

// Launch starts the process and does not wait for anything.
func (p *Process) Launch(t testing.TB) {
	t.Helper()
	path, err := p.binaries.path(t.Context(), p.binary)
	if err != nil {
		t.Fatal(err)
	}
	// Nothing of this process' own environment. The race detector would hold every exit up for a second.
	env := []string{"GORACE=atexit_sleep_ms=0"}
	for name, value := range p.env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	proc, err := process.Start(t.Context(), process.Spec{Name: p.Name, Path: path, Args: p.args, Env: env, Output: p.log.file})
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proc = proc
}

// Start starts the process and waits until it is ready.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	p.Launch(t)
	p.AwaitReady(t)
}

// Stop ends the process by SIGTERM. It must go in time, and with exit status 0.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	proc := p.take()
	if proc == nil {
		t.Errorf("stop %s: it does not run", p.Name)
		return
	}
	if err := stop(t.Context(), proc); err != nil {
		t.Errorf("stop %s: %v", p.Name, err)
	}
}

// Kill ends the process as a power cut would.
func (p *Process) Kill() {
	if proc := p.take(); proc != nil {
		proc.Kill()
	}
}

// Restart stops the process and starts it again.
func (p *Process) Restart(t testing.TB) {
	t.Helper()
	p.Stop(t)
	p.Start(t)
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
		return fmt.Errorf("%s ended by itself: %v", p.Name, proc.Wait())
	default:
		return nil
	}
}

// end stops what still runs at the test's end.
func (p *Process) end(t testing.TB) {
	t.Helper()
	proc := p.take()
	if proc == nil {
		return
	}
	select {
	case <-proc.Done():
		t.Errorf("%s ended by itself: %v", p.Name, proc.Wait())
		return
	default:
	}
	if err := stop(context.WithoutCancel(t.Context()), proc); err != nil {
		t.Errorf("stop %s: %v", p.Name, err)
	}
}

func stop(ctx context.Context, proc *process.Process) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return errors.Join(proc.Stop(ctx), proc.Wait())
}
