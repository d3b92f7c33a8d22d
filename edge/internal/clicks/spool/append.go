package spool

import (
	"runtime"
	"sync"
)

// pool keeps waiters between appends.
func newPool() *sync.Pool {
	return &sync.Pool{New: func() any { return &waiter{done: make(chan Outcome, 1)} }}
}

// yields is how often an append lets others run before it waits in the queue. On a
// busy edge once will do: whoever can append does, then the writer has its turn. A
// place in the queue costs as much again.
const yields = 3

// Append puts payload (1 to MaxPayload bytes) at the end of the log and waits
// until it is written: for the disk at most Config.Limit, 20 times that if the
// machine has no processor for the writer. Unless it is Refused, at is its
// offset, also while it is Held. Safe from any goroutine; payload is free again
// when it returns. It does not allocate once as many appends have run at a time
// as ever do.
//
// Before Run has started, and from the moment that the disk falls behind Limit
// until it has caught up, Append answers Held without waiting.
func (s *Spool) Append(payload []byte) (at uint64, o Outcome) {
	if len(payload) == 0 || len(payload) > MaxPayload {
		s.counts.refused.Add(1)
		return 0, Refused
	}
	size := frameBytes(len(payload))
	at, ok := s.ring.reserve(size)
	if !ok {
		s.counts.refused.Add(1)
		return 0, Refused
	}
	s.ring.put(at, payload)
	s.alarm.ring()
	if o = s.await(at + size); o == Held {
		s.counts.held.Add(1)
	}
	return at, o
}

// await returns once what was appended up to an offset is Written, or Held.
func (s *Spool) await(end uint64) Outcome {
	for range yields {
		if s.queue.stalled.Load() {
			return Held
		}
		runtime.Gosched()
		if s.ring.written.Load() >= end {
			return Written
		}
	}
	w := s.pool.Get().(*waiter)
	w.end = end
	s.queue.push(w)
	s.queue.lookAgain(s.ring, end)
	o := <-w.done
	s.pool.Put(w)
	return o
}
