// Package pace keeps long work that nobody waits for from holding up what visitors wait for.
package pace

import (
	"runtime"
	"time"
)

// The Go scheduler lets a goroutine run for 10 ms before another one has its turn, and asks the network for what has come
// only where nothing else can run: runtime.Gosched leads right back here. So long work sleeps now and then.
const (
	slice   = 100 * time.Microsecond // at a stretch
	longest = 2 * slice              // where the process has so little to do that a sleep ends late
	looks   = 8                      // calls to one look at the clock
	eighth  = 8                      // of all processors' time may go to such work, which is several times what it needs
)

// Pace is that of one goroutine's work. A nil one never rests. Not safe for concurrent use.
type Pace struct {
	began time.Time
	worth time.Duration // how long this stretch may last
	calls uint
	hurry bool
	timer *time.Timer
}

// New makes a Pace for work that has not begun.
func New() *Pace {
	timer := time.NewTimer(0)
	<-timer.C
	return &Pace{began: time.Now(), worth: slice, timer: timer}
}

// Hurry is for when there are no visitors any more: Rest never rests again.
func (p *Pace) Hurry() { p.hurry = true }

// Rest is called between pieces of work of some microseconds, and sleeps where they have taken a slice together: so long
// that they take no more than an eighth of the time of the processors that Go may use. With eight of them it never
// sleeps: then there are others for the visitors.
func (p *Pace) Rest() {
	if p == nil || p.hurry {
		return
	}
	if p.calls++; p.calls%looks == 0 {
		p.Look()
	}
}

// Look is Rest for pieces of some ten microseconds, whose every end is looked at.
func (p *Pace) Look() {
	worked := time.Since(p.began)
	if worked < p.worth {
		return
	}
	// What it worked includes what it waited for: a disk, or others' turns. Nobody has to make up for all of that.
	p.sleep(min(worked, longest))
	p.began = time.Now()
}

// sleep lets others have the processors for what has been worked, and sets how long the next stretch may be.
func (p *Pace) sleep(worked time.Duration) {
	own := runtime.GOMAXPROCS(0)
	if own >= eighth {
		p.worth = slice
		return
	}
	rest := float64(eighth-own) / float64(own) // of what was worked
	before := time.Now()
	p.timer.Reset(time.Duration(float64(worked) * rest))
	<-p.timer.C
	slept := time.Since(before)
	p.worth = min(max(time.Duration(float64(slept)/rest), slice), longest)
}
