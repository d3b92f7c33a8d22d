package spool

import "sync/atomic"

// alarm wakes one goroutine that sleeps while there is nothing to do. The
// sleeper calls set, looks once more for work, waits for the bell if there is
// none, and calls wake if something else ended its sleep. Who brings work makes
// it visible first and then calls ring. Either side stores first and then loads
// what the other stores, so one of them sees the other.
type alarm struct {
	asleep atomic.Bool
	bell   chan struct{} // of one place: filled at most once after each set
}

func newAlarm() *alarm { return &alarm{bell: make(chan struct{}, 1)} }

// set says that the sleeper is about to wait.
func (a *alarm) set() { a.asleep.Store(true) }

// wake takes set back, or the ring that was faster.
func (a *alarm) wake() {
	if !a.asleep.CompareAndSwap(true, false) {
		<-a.bell
	}
}

// ring wakes the sleeper, if there is one. It never blocks.
func (a *alarm) ring() {
	if a.asleep.Load() && a.asleep.CompareAndSwap(true, false) {
		a.bell <- struct{}{}
	}
}
