package spool

import "sync"

// pool keeps waiters between appends.
func newPool() *sync.Pool {
	return &sync.Pool{New: func() any { return &waiter{done: make(chan Outcome, 1)} }}
}

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
	if s.queue.stalled.Load() {
		s.ring.put(at, payload)
		s.alarm.ring()
		s.counts.held.Add(1)
		return at, Held
	}
	w := s.pool.Get().(*waiter)
	w.end = at + size
	s.queue.push(w) // before put: see queue
	s.ring.put(at, payload)
	s.alarm.ring()
	s.queue.lookAgain()
	if o = <-w.done; o == Held {
		s.counts.held.Add(1)
	}
	s.pool.Put(w)
	return at, o
}
