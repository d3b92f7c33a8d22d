package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
)

// Log is all that one boot appended. An offset counts the bytes of frames from
// its beginning, over all segments, headers apart. All methods are safe from any
// goroutine, but for Drop and Remove, which want one caller at a time.
type Log struct {
	dir, boot, label string
	headerBytes      int   // own log
	ring             *ring // own log: knows what is written
	counts           *counts
	closed           atomic.Bool // own log: its writer is through
	removed          atomic.Bool

	scan sync.Mutex // older log: held while the disk is asked for the end; before mu

	mu       sync.Mutex // never held while the disk is asked
	segments []segment  // ascending
	end      uint64     // older log, once scanned
	scanned  bool
}

type segment struct {
	base    uint64
	bytes   int64 // of the file, as it was found; older log
	damaged bool  // counted once
}

// Boot is the name of the log, new with every Open.
func (l *Log) Boot() string { return l.boot }

// Label is the Config.Label it was written with; "" if no header can be read.
func (l *Log) Label() string { return l.label }

// Closed says that nothing will be appended any more.
func (l *Log) Closed() bool { return l.ring == nil || l.closed.Load() }

// Start is the offset of the first frame that is still there; End if none is.
func (l *Log) Start() uint64 {
	l.mu.Lock()
	if len(l.segments) > 0 {
		defer l.mu.Unlock()
		return l.segments[0].base
	}
	l.mu.Unlock()
	return l.End()
}

// Bytes is the size of the log's files.
func (l *Log) Bytes() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.segments {
		n += s.bytes + int64(l.headerBytes)
	}
	if l.ring != nil && len(l.segments) > 0 {
		n += distance(l.segments[0].base, l.ring.written.Load())
	}
	return n
}

// Drop removes the segments that lie wholly below an offset, but for the last
// one, which knows where the log ends.
func (l *Log) Drop(upTo uint64) error {
	for {
		l.mu.Lock()
		if len(l.segments) < 2 || l.segments[1].base > upTo {
			l.mu.Unlock()
			return nil
		}
		base := l.segments[0].base
		l.mu.Unlock()
		if err := os.Remove(l.path(base)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("drop segment: %w", err)
		}
		l.mu.Lock()
		l.segments = l.segments[1:]
		l.mu.Unlock()
	}
}

// Remove deletes the folder of a closed log, which Logs then lists no more.
func (l *Log) Remove() error {
	if !l.Closed() {
		return fmt.Errorf("remove log %s: it is being written", l.boot)
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("remove log: %w", err)
	}
	l.mu.Lock()
	l.scanned, l.segments = true, nil
	l.mu.Unlock()
	l.removed.Store(true)
	return nil
}

func (l *Log) path(base uint64) string { return filepath.Join(l.dir, segmentName(base)) }

func (l *Log) header(base uint64) []byte { return newHeader(l.boot, l.label, base) }

// extend adds the segment that the writer has just created. After a failure it
// may be the last one once more.
func (l *Log) extend(base uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.segments); n == 0 || l.segments[n-1].base != base {
		l.segments = append(l.segments, segment{base: base})
	}
}

// find lists the segments of an older log.
func (l *Log) find() error {
	names, err := os.ReadDir(l.dir)
	if err != nil {
		return fmt.Errorf("log %s: %w", l.boot, err)
	}
	for _, name := range names {
		base, ok := parseSegmentName(name.Name())
		if !ok || !name.Type().IsRegular() {
			continue
		}
		info, err := name.Info()
		if err != nil {
			return fmt.Errorf("log %s: %w", l.boot, err)
		}
		l.segments = append(l.segments, segment{base: base, bytes: info.Size()})
	}
	for _, s := range slices.Backward(l.segments) {
		if label, err := readLabel(l.path(s.base), l.boot, s.base); err == nil {
			l.label = label
			break
		}
	}
	return nil
}
