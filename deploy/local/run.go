package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// runStack is the subcommand run: it starts every part, says so, and keeps them running until ctx ends. Then it
// stops them in reverse order and returns nil; so it does when ctx ends while the parts are still starting.
func runStack(ctx context.Context, c config, say *printer) error {
	if err := makeDataFolder(c.data); err != nil {
		return err
	}
	unlock, err := lockData(c.path("lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if err := ensureServers(ctx, say.out); err != nil {
		return err
	}
	if err := c.ports.checkFree(ctx); err != nil {
		return err
	}
	s, err := newStack(c)
	if err != nil {
		return err
	}
	if s.cluster != c.path("postgres") {
		say.info("PostgreSQL's user cannot reach %s; its cluster is in %s", c.data, s.cluster)
	}
	parts, err := s.parts()
	if err != nil {
		return err
	}
	err = runParts(ctx, parts, c, say)
	return errors.Join(err, closeLogs(parts))
}

// runParts starts the parts in order, keeps them until ctx ends and stops them in reverse order.
func runParts(ctx context.Context, parts []part, c config, say *printer) error {
	pids := newPIDFile(c.path("pids"))
	var kept []running
	defer func() { _ = pids.remove() }()
	for _, p := range parts {
		// A service that is asked to stop finishes its requests in hand, for some 20 s at most.
		k := &keeper{part: p, pids: pids, say: say, patience: patience{
			first: 500 * time.Millisecond, longest: 30 * time.Second, settled: time.Minute, stop: 30 * time.Second,
		}}
		if err := k.begin(ctx); err != nil {
			stopAll(kept, say)
			if ctx.Err() != nil {
				return nil // asked to stop while starting
			}
			return fmt.Errorf("%s: %w", p.name, err)
		}
		say.info("%-8s  ready (pid %d)", p.name, k.process.PID())
		kept = append(kept, keep(ctx, k))
	}
	say.text(welcome(c, adminKey(ctx, c)))
	say.info("ready")
	<-ctx.Done()
	say.info("stopping")
	stopAll(kept, say)
	return nil
}

// running is a keeper with the goroutine that runs it.
type running struct {
	name   string
	cancel context.CancelFunc
	done   *sync.WaitGroup
	err    *error // written before done is done
}

// keep runs the keeper apart from ctx's end: each part stops when its turn comes, not all at once.
func keep(ctx context.Context, k *keeper) running {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := running{name: k.part.name, cancel: cancel, done: &sync.WaitGroup{}, err: new(error)}
	r.done.Go(func() { *r.err = k.Run(ctx) })
	return r
}

// stopAll stops the parts one after the other, the newest first.
func stopAll(kept []running, say *printer) {
	for _, r := range slices.Backward(kept) {
		r.cancel()
		r.done.Wait()
		if err := *r.err; err != nil {
			say.warn("%s: %v", r.name, err)
			continue
		}
		say.info("%s stopped", r.name)
	}
}

// makeDataFolder makes the data folder. As root, PostgreSQL's user has to be able to pass it; what must stay secret
// in it has mode 0600.
func makeDataFolder(dir string) error {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return os.Chmod(dir, mode) // whatever the umask is
}

// lockData takes the data folder for this process; the kernel gives it back when the process ends.
func lockData(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // in the stack's own folder
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another `make run` uses %s: stop it, or choose another folder with %s=dir", path, dataEnv)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}
