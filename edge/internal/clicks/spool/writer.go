package spool

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// maxWrite is about how much one write takes, in bytes.
const maxWrite = 1 << 20

// The pause after a failed write doubles from the first to the longest.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 5 * time.Second
)

// writer moves frames from the ring into segments. Only its goroutine writes to
// the disk, so only it hangs when the disk does.
type writer struct {
	cfg    Config
	ring   *ring
	queue  *queue
	alarm  *alarm // its own: rung by appends
	watch  *alarm // of the watch: rung before each write
	own    *Log
	create create
	counts *counts

	thread atomic.Int64  // the one that calls the disk
	turn   atomic.Uint64 // counts the beginnings and the ends of that: odd while the disk has it

	segment file // nil: the next write creates one
	base    uint64
	age     *time.Timer
}

// run writes until stop is closed, and then what is still held.
func (w *writer) run(ctx context.Context, stop <-chan struct{}) error {
	w.age = time.NewTimer(w.cfg.SegmentAge)
	defer w.age.Stop()
	w.queue.release(0) // from here on it is worth waiting
	var pause time.Duration
	for {
		wrote, err := w.write()
		switch {
		case err != nil:
			if pause == 0 {
				w.cfg.Logger.LogAttrs(ctx, slog.LevelError, "spool not written, appends are held in memory", slog.Any("error", err))
			}
			pause = min(max(2*pause, firstPause), longestPause)
			if !rest(pause, stop) {
				return w.finish()
			}
		case !wrote:
			if !w.idle(stop) {
				return w.finish()
			}
		case pause != 0:
			pause = 0
			w.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "spool written again")
		case ended(stop): // appends may never leave it idle
			return w.finish()
		}
	}
}

// write takes the frames that are published, up to about maxWrite, to the disk.
// wrote is false if there are none. After an error they are in the ring still,
// but for those that the disk took.
func (w *writer) write() (wrote bool, err error) {
	w.watch.ring()
	// Whoever is about to append goes first: its frame is then part of this write.
	runtime.Gosched()
	from := w.ring.written.Load()
	to, frames := w.ring.whole(from, min(maxWrite, uint64(len(w.ring.bytes))/2))
	if to == from {
		return false, nil
	}
	w.enter()
	sure, err := w.put(from, to)
	w.leave()
	if err != nil {
		to, frames = w.ring.within(from, sure)
	}
	w.ring.free(to)
	w.counts.frames.Add(frames)
	if err != nil {
		w.counts.failures.Add(1)
		w.queue.hold()
		w.seal()
		return false, err
	}
	w.queue.release(to)
	return true, nil
}

// enter and leave stand around every call of the disk that appends may wait for.
func (w *writer) enter() {
	w.thread.Store(int64(unix.Gettid()))
	w.turn.Add(1)
}

func (w *writer) leave() { w.turn.Add(1) }

// put writes [from, to) to the segment. Up to the offset sure the disk has it.
func (w *writer) put(from, to uint64) (sure uint64, err error) {
	if err := w.ready(); err != nil {
		return from, err
	}
	at := w.place(from)
	head, tail := w.ring.span(from, to)
	n, err := w.segment.WriteAt(head, at)
	if err == nil && len(tail) > 0 {
		var more int
		more, err = w.segment.WriteAt(tail, at+int64(n))
		n += more
	}
	w.counts.writes.Add(1)
	if err != nil {
		return from + uint64(max(n, 0)), err
	}
	if w.cfg.Group {
		w.counts.syncs.Add(1)
		if err := w.segment.sync(); err != nil {
			return from, err // nobody knows how much is durable, and a second fdatasync would claim that all is
		}
	}
	return to, nil
}

// place is where an offset of the log is in the segment's file.
func (w *writer) place(at uint64) int64 {
	return int64(w.own.headerBytes) + distance(w.base, at)
}

// ready sees to a segment that takes the next write.
func (w *writer) ready() error {
	if w.segment != nil {
		full := distance(w.base, w.ring.written.Load()) >= w.cfg.SegmentBytes
		select {
		case <-w.age.C:
			full = true
		default:
		}
		if !full {
			return nil
		}
		w.seal()
	}
	base := w.ring.written.Load()
	f, err := w.create(w.own.path(base), w.own.header(base), w.cfg.Group)
	if err != nil {
		return fmt.Errorf("new segment: %w", err)
	}
	w.segment, w.base = f, base
	w.own.extend(base)
	w.age.Reset(w.cfg.SegmentAge)
	return nil
}

// seal ends the segment where the last whole frame ends. If the file cannot be
// cut there, it holds more than it should: readers stop at the next one's base.
func (w *writer) seal() {
	if w.segment == nil {
		return
	}
	if err := w.segment.seal(w.place(w.ring.written.Load())); err != nil {
		w.counts.failures.Add(1)
	}
	w.segment = nil
}

// idle waits for an append. False: for stop.
func (w *writer) idle(stop <-chan struct{}) (more bool) {
	w.alarm.set()
	more = true
	if to, _ := w.ring.whole(w.ring.written.Load(), 1); to == w.ring.written.Load() {
		select {
		case <-w.alarm.bell:
			return true
		case <-w.age.C:
			w.retire()
		case <-stop:
			more = false
		}
	}
	w.alarm.wake()
	return more
}

// retire replaces a segment that is old and has frames, so that it can go once
// they are shipped.
func (w *writer) retire() {
	if w.segment == nil || w.ring.written.Load() == w.base {
		w.age.Reset(w.cfg.SegmentAge)
		return
	}
	w.enter()
	defer w.leave()
	w.seal()
	if err := w.ready(); err != nil {
		w.counts.failures.Add(1) // the next write tries again
	}
}

// finish refuses further appends and writes what is held, until the first error.
func (w *writer) finish() error {
	end := w.ring.seal()
	defer w.seal()
	for w.ring.written.Load() < end {
		wrote, err := w.write()
		if err != nil {
			return fmt.Errorf("%d bytes of the spool are lost: %w", end-w.ring.written.Load(), err)
		}
		if !wrote {
			w.idle(nil) // for an append that has reserved and not yet published
		}
	}
	return nil
}

func ended(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// rest waits for the pause. False: stop was closed.
func rest(pause time.Duration, stop <-chan struct{}) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}
