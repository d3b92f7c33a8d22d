package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// drain is how long Run tries to write what is held at its end.
const drain = 5 * time.Second

// Spool is a folder of logs: one that this process appends to and those that
// earlier ones left. All methods are safe from any goroutine.
type Spool struct {
	cfg    Config
	lock   *os.File
	ring   *ring
	queue  *queue
	pool   *sync.Pool
	alarm  *alarm // wakes the writer
	patrol *alarm // wakes the watch
	counts *counts
	writer *writer
	sleeps func(tid int) bool // replaced by tests whose disk hangs in no system call
	own    *Log
	older  []*Log

	mu      sync.Mutex
	running bool // from the start of Run until the writer is through
}

// Open takes the folder and finds the logs in it. It reads one header a log and
// writes nothing: the own log's folder comes with the first append, so that a
// full disk cannot keep an edge from starting. It fails with ErrInUse if another
// process has the folder.
func Open(cfg Config) (*Spool, error) { return open(cfg, createFile) }

func open(cfg Config, create create) (*Spool, error) {
	cfg = cfg.withDefaults()
	if len(cfg.Label) > MaxLabel {
		return nil, fmt.Errorf("spool label of %d bytes: at most %d", len(cfg.Label), MaxLabel)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool folder: %w", err)
	}
	lock, err := lockFolder(cfg.Dir)
	if err != nil {
		return nil, err
	}
	counts := &counts{}
	older, err := findLogs(cfg.Dir, counts)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	s := &Spool{
		cfg: cfg, lock: lock, counts: counts, older: older,
		ring: newRing(cfg.BufferBytes), queue: &queue{}, pool: newPool(),
		alarm: newAlarm(), patrol: newAlarm(), sleeps: sleeps,
	}
	s.queue.stalled.Store(true) // until Run
	boot := newBoot(time.Now())
	s.own = &Log{
		dir: filepath.Join(cfg.Dir, boot), boot: boot, label: cfg.Label,
		headerBytes: headerSize(boot, cfg.Label), ring: s.ring, counts: counts,
	}
	s.writer = &writer{
		cfg: cfg, ring: s.ring, queue: s.queue, alarm: s.alarm, watch: s.patrol,
		own: s.own, create: create, counts: counts,
	}
	return s, nil
}

// Run writes what is appended until ctx ends, then what is still held, and
// returns with nothing running. It runs once. If the disk does not answer, it
// gives up after 5 s with an error that says how much is lost; a goroutine that
// the kernel does not let go is then left to the end of the process.
func (s *Spool) Run(ctx context.Context) error {
	s.setRunning(true)
	var err error
	written, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		err = s.writer.run(ctx, ctx.Done())
		s.own.closed.Store(true)
		s.setRunning(false)
	}()
	go func() {
		defer close(watched)
		s.watch(written)
	}()
	<-ctx.Done()
	t := time.NewTimer(drain)
	defer t.Stop()
	select {
	case <-watched:
		return err
	case <-t.C:
		s.ring.seal()
		return fmt.Errorf("%d bytes of the spool are lost: the disk has not answered for %s", s.ring.held(), drain)
	}
}

// Close lets the folder go, for another process. It is called after Run, and
// fails while the writer is still in the hands of the disk.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return errors.New("close spool: still writing")
	}
	return unlockFolder(s.lock)
}

// Logs lists the logs, oldest first, the own one last.
func (s *Spool) Logs() []*Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	logs := make([]*Log, 0, len(s.older)+1)
	for _, l := range s.older {
		if !l.removed.Load() {
			logs = append(logs, l)
		}
	}
	s.older = slices.Clone(logs)
	if !s.own.removed.Load() {
		logs = append(logs, s.own)
	}
	return logs
}

func (s *Spool) setRunning(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = is
}
