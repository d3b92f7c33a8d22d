package spool

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// faulty makes segments on real files that fail as told. Zero is no fault.
type faulty struct {
	room     atomic.Int64 // bytes of frames until the disk is full; below zero: no end
	noSync   atomic.Bool  // fdatasync fails
	noCut    atomic.Bool  // ftruncate fails
	noCreate atomic.Bool
	awake    atomic.Bool // a call that hangs does so for want of a processor
	syncs    atomic.Int64
	synced   atomic.Int64 // bytes of the file that was synced last

	mu    sync.Mutex
	block chan struct{} // writes and syncs hang until it is closed
	hung  atomic.Int64  // how many do
}

var errCut = errors.New("cannot be cut")

func newFaulty() *faulty {
	f := &faulty{}
	f.room.Store(-1)
	return f
}

// open is Open on this disk.
func (f *faulty) open(tb testing.TB, cfg Config) *Spool {
	tb.Helper()
	s, err := open(cfg, f.create)
	if err != nil {
		tb.Fatal(err)
	}
	s.sleeps = func(int) bool { return f.hung.Load() > 0 && !f.awake.Load() }
	return s
}

// stall lets writes and syncs hang until the returned function is called.
func (f *faulty) stall() (release func()) {
	block := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.block = block
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.block = nil
		close(block)
	})
}

func (f *faulty) wait() {
	f.mu.Lock()
	block := f.block
	f.mu.Unlock()
	if block != nil {
		f.hung.Add(1)
		<-block
		f.hung.Add(-1)
	}
}

func (f *faulty) create(path string, header []byte, durable bool) (file, error) {
	if f.noCreate.Load() {
		return nil, unix.EROFS
	}
	made, err := createFile(path, header, durable)
	if err != nil {
		return nil, err
	}
	return &faultyFile{made, f, int64(len(header))}, nil
}

type faultyFile struct {
	file
	faults *faulty
	synced int64 // bytes that a failed fdatasync leaves
}

func (f *faultyFile) WriteAt(p []byte, at int64) (int, error) {
	f.faults.wait()
	room := f.faults.room.Load()
	if room < 0 {
		return f.file.WriteAt(p, at)
	}
	n, err := f.file.WriteAt(p[:min(room, int64(len(p)))], at)
	f.faults.room.Add(-int64(n))
	if err == nil && n < len(p) {
		err = unix.ENOSPC
	}
	return n, err
}

func (f *faultyFile) sync() error {
	f.faults.syncs.Add(1)
	f.faults.wait()
	made := f.file.(osFile)
	if f.faults.noSync.Load() {
		return errors.Join(unix.EIO, made.Truncate(f.synced))
	}
	info, err := made.Stat()
	if err != nil {
		return err
	}
	f.synced = info.Size()
	f.faults.synced.Store(f.synced)
	return made.sync()
}

func (f *faultyFile) seal(size int64) error {
	if f.faults.noCut.Load() {
		_ = f.file.(osFile).Close()
		return errCut
	}
	return f.file.seal(size)
}
