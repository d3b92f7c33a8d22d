package spool

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestARingThatWasFasterIsTakenBack(t *testing.T) {
	t.Parallel()
	a := newAlarm()
	for range 3 {
		a.set()
		a.ring()
		a.ring() // nobody sleeps any more
		a.wake()
		if n := len(a.bell); n != 0 {
			t.Fatalf("got %d rings left: the next one would block", n)
		}
		a.set()
		a.wake()
		a.ring()
		if n := len(a.bell); n != 0 {
			t.Fatalf("got %d rings while nobody sleeps", n)
		}
	}
}

// TestNoRingIsMissed brings work from several sides to one who sleeps whenever
// there is none.
func TestNoRingIsMissed(t *testing.T) {
	t.Parallel()
	a := newAlarm()
	const sides, each = 4, 50_000
	var work atomic.Int64
	var ringing sync.WaitGroup
	for range sides {
		ringing.Go(func() {
			for range each {
				work.Add(1)
				a.ring()
			}
		})
	}
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for done := int64(0); done < sides*each; {
		a.set()
		if now := work.Load(); now > done {
			done = now
			a.wake()
			continue
		}
		select {
		case <-a.bell:
		case <-late.C:
			t.Fatalf("sleeps with %d of %d done", work.Load()-done, sides*each)
		}
	}
	ringing.Wait()
}
