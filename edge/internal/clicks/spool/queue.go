package spool

import (
	"sync"
	"sync/atomic"
)

// Outcome says what became of an append.
type Outcome uint8

const (
	// Written is in a file: it survives the end of this process, and with
	// Config.Group the loss of power too.
	Written Outcome = iota
	// Held is in this process's memory, at its offset, and will be written as
	// soon as the disk takes it. A kill before that loses it.
	Held
	// Refused is not in the spool: the memory for what is held is full, the
	// payload is empty or above MaxPayload, or the spool has stopped.
	Refused
)

// String names the outcome.
func (o Outcome) String() string {
	switch o {
	case Written:
		return "written"
	case Held:
		return "held"
	default:
		return "refused"
	}
}

// waiter is one append that waits for the write of its frame.
type waiter struct {
	end  uint64 // of its frame
	tick uint64 // of the queue, when it came
	next *waiter
	done chan Outcome // of one place: whoever takes the waiter off its list sends once
}

// patience is how many ticks of the watch a waiter waits at least before it is
// told Held.
const patience = 4

// queue holds the appends that wait. Any number of appends push; the writer
// releases whom a write covers and the watch whoever waited too long. An append
// pushes after it has published its frame, and then looks whether that is written,
// or the disk has fallen behind. Both are stored before those who wait are told, so
// either it is among them, or it sees it.
type queue struct {
	arrived atomic.Pointer[waiter] // a stack: pushed one by one, taken whole
	_       [56]byte
	tick    atomic.Uint64
	stalled atomic.Bool // no append waits: the disk does not take what is held

	mu      sync.Mutex
	waiting *waiter // taken from arrived, not yet released
}

func (q *queue) push(w *waiter) {
	w.tick = q.tick.Load()
	for {
		w.next = q.arrived.Load()
		if q.arrived.CompareAndSwap(w.next, w) {
			return
		}
	}
}

// release tells Written to all whose frames end at or before written. Whoever
// comes from now on waits again.
func (q *queue) release(written uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.each(func(w *waiter) bool { return w.end <= written }, Written)
	q.stalled.Store(false)
}

// expire counts a tick of the watch. If the disk hangs, it tells Held to all who
// have waited too long; if there are any, nobody waits until the next release.
func (q *queue) expire(hangs bool) {
	now := q.tick.Add(1)
	if !hangs {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.each(func(w *waiter) bool { return now-w.tick >= patience }, Held) {
		q.stalled.Store(true)
	}
}

// hold tells Held to all, and nobody waits until the next release.
func (q *queue) hold() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stalled.Store(true)
	q.each(func(*waiter) bool { return true }, Held)
}

// lookAgain is for an append that has pushed. If its frame was written before that,
// or the disk has fallen behind since it looked, nobody else may come to tell it.
func (q *queue) lookAgain(r *ring, end uint64) {
	written, stalled := r.written.Load() >= end, q.stalled.Load()
	if !written && !stalled {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if written {
		q.each(func(w *waiter) bool { return w.end <= end }, Written)
	}
	if q.stalled.Load() {
		q.each(func(*waiter) bool { return true }, Held)
	}
}

// each takes every waiter that is due off the list, tells it the outcome and
// reports whether there was one. Needs mu.
func (q *queue) each(due func(*waiter) bool, o Outcome) (told bool) {
	for w := q.arrived.Swap(nil); w != nil; { // last in, first out: turned round here
		next := w.next
		w.next, q.waiting = q.waiting, w
		w = next
	}
	for at := &q.waiting; *at != nil; {
		w := *at
		if !due(w) {
			at = &w.next
			continue
		}
		*at = w.next // before the send, after which the waiter is another append's
		w.done <- o
		told = true
	}
	return told
}
