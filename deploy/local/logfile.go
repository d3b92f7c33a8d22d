package main

import (
	"os"
	"sync"
)

// logLimit is the size in bytes at which a log is set aside; one older file is kept, so a part's logs stay below
// twice this.
const logLimit = 8 << 20

// logFile is the log of one part, path and path.1. It drops what is written before open. Safe for concurrent use.
type logFile struct {
	path  string
	limit int64

	mu   sync.Mutex
	file *os.File // nil while it is not open
	size int64
	from int64 // where in the file begins what this run wrote
}

// Write appends p. It never fails: a part whose output is refused gets a SIGPIPE, and no full disk is a reason to
// end it. What cannot be written is dropped.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size > 0 && l.size+int64(len(p)) > l.limit {
		l.setAside()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

// Close closes the file; later writes are dropped.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// tail returns the last bytes of the log, n at most, and none that was there before it was opened.
func (l *logFile) tail(n int64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := make([]byte, min(n, l.size-l.from))
	if l.file == nil || len(b) == 0 {
		return nil
	}
	read, _ := l.file.ReadAt(b, l.size-int64(len(b))) // as much as there is
	return b[:read]
}

func (l *logFile) setAside() {
	_ = l.file.Close()
	l.file = nil
	if os.Rename(l.path, l.path+".1") == nil && l.open() == nil {
		l.from = 0 // the new file is this run's alone
	}
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, 2)
	if err != nil {
		_ = f.Close()
		return err
	}
	l.file, l.size, l.from = f, size, size
	return nil
}
