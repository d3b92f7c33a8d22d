package spool

import (
	"runtime"
	"time"
)

// starved is how many Limits a call of the disk may take in which the writer is
// not asleep: the machine has no processor for it.
const starved = 20

// watch tells Held to appends that have waited for Limit while the writer sleeps
// in a call of the disk. A writer that only waits for a processor, as on a busy
// machine, is no reason: it will have one, and Written is the better answer.
//
// It ticks a few times in a Limit as long as there is writing and sleeps
// otherwise, so an idle edge does not tick.
func (s *Spool) watch(done <-chan struct{}) {
	period := s.cfg.Limit / (patience + 1) // the disk has to be seen hanging twice
	t := time.NewTicker(period)
	defer t.Stop()
	var turn uint64
	var seen int // ticks in that turn
	for {
		select {
		case <-done:
			return
		case <-t.C:
		}
		// If the writer is back from the disk and runnable, it comes first.
		runtime.Gosched()
		before := turn
		if turn = s.writer.turn.Load(); turn != before {
			seen = 0
		}
		seen++
		hangs := turn%2 == 1 && (seen > 1 && s.sleeps(int(s.writer.thread.Load())) || seen >= (patience+1)*starved)
		s.queue.expire(hangs)
		if seen == 1 || !s.alarm.asleep.Load() || !s.mayRest() {
			continue
		}
		t.Stop()
		select {
		case <-done:
			return
		case <-s.patrol.bell:
			t.Reset(period)
		}
	}
}

// mayRest says that the watch has nothing to do until its bell rings: the writer
// sleeps, and will ring when it does not any more.
func (s *Spool) mayRest() bool {
	s.patrol.set()
	if s.alarm.asleep.Load() {
		return true
	}
	s.patrol.wake()
	return false
}
