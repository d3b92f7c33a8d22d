package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"waypost/deploy/process"
)

// part is one process of the stack.
type part struct {
	name string
	log  *logFile

	// start starts it anew, on the same port with the same data.
	start func(ctx context.Context) (*process.Process, error)
	// ready blocks until it does its work, for the first start only: later ones wait for nobody.
	ready func(ctx context.Context, p *process.Process) error
}

// patience is how long the supervisor waits for what.
type patience struct {
	first   time.Duration // pause before the first start again; doubles with each
	longest time.Duration // the pause grows no further
	settled time.Duration // a part that lived this long starts with the first pause again
	stop    time.Duration // for a part to stop before it is killed
}

// keeper keeps one part running. Run owns it.
type keeper struct {
	part     part
	pids     *pidFile
	say      *printer
	patience patience
	process  *process.Process // the running one; after begin, Run alone touches it
}

// begin starts the part for the first time and waits until it is ready. When it returns an error nothing runs.
func (k *keeper) begin(ctx context.Context) error {
	p, err := k.start(ctx)
	if err != nil {
		return err
	}
	if err := k.part.ready(ctx, p); err != nil {
		return errors.Join(fmt.Errorf("%w\n%s", err, k.lastWords()), k.stop(ctx))
	}
	return nil
}

// Run starts the part again whenever it ends, after a growing pause, until ctx ends. Then it stops the part and
// returns nil, or an error when the part had to be killed.
func (k *keeper) Run(ctx context.Context) error {
	pause := k.patience.first
	for {
		started := time.Now()
		select {
		case <-ctx.Done():
			return k.stop(ctx)
		case <-k.process.Done():
		}
		k.ended()
		if time.Since(started) >= k.patience.settled {
			pause = k.patience.first
		}
		for again := false; !again; {
			k.say.warn("%s: starting again in %s (log: %s)", k.part.name, pause, k.part.log.path)
			if !sleep(ctx, pause) {
				return nil
			}
			pause = min(2*pause, k.patience.longest)
			p, err := k.start(ctx)
			if err != nil {
				k.say.warn("%s: %v", k.part.name, err)
				continue
			}
			k.say.warn("%s: running again, pid %d", k.part.name, p.PID())
			again = true
		}
	}
}

// start starts the process and lists it.
func (k *keeper) start(ctx context.Context) (*process.Process, error) {
	p, err := k.part.start(ctx)
	if err != nil {
		return nil, err
	}
	k.process = p
	if err := k.pids.set(k.part.name, p.PID()); err != nil {
		k.say.warn("%s: %v", k.part.name, err) // it runs, and that counts more
	}
	return p, nil
}

// ended names the end of a process that nobody asked to end.
func (k *keeper) ended() {
	how := "exit status 0"
	if err := k.process.Wait(); err != nil {
		how = err.Error()
	}
	k.say.warn("%s: ended by itself (%s, pid %d)", k.part.name, how, k.process.PID())
	if err := k.pids.clear(k.part.name); err != nil {
		k.say.warn("%s: %v", k.part.name, err)
	}
}

// stop ends the process within patience.stop. ctx may have ended already: it is what asked for the stop.
func (k *keeper) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.patience.stop)
	defer cancel()
	return errors.Join(k.process.Stop(ctx), k.pids.clear(k.part.name))
}

// lastWords returns the end of the part's log.
func (k *keeper) lastWords() string {
	return fmt.Sprintf("the end of %s:\n%s", k.part.log.path, k.part.log.tail(2048))
}

// sleep waits for d and reports whether it did; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
