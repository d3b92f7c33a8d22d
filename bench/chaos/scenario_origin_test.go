package chaos

import (
	"time"

	"waypost/bench/fleet"
	"waypost/shared/failpoint"
)

// anyMoment stands for no step: what an origin is in the middle of is left to chance.
const anyMoment failpoint.Point = "any-moment"

// originKilled kills one origin after the other between two steps of a write, each in turn, and at any moment.
func originKilled(w *world) {
	moments := []failpoint.Point{failpoint.BeforeCommit, failpoint.BeforePublish, failpoint.BeforeAnswer, anyMoment}
	for i := range w.times(len(moments), 100) {
		origin := w.Origins[i%len(w.Origins)] // where all writers are, since the other one was killed
		moment := moments[(i+i/len(moments))%len(moments)]
		w.pass(w.upTo(300 * time.Millisecond))
		w.fault(origin.Name+" killed, "+string(moment), func() {
			w.killAt(origin, moment)
			w.pass(w.upTo(300 * time.Millisecond))
			origin.Start(w.t)
		})
	}
}

// killAt lets the next write that comes by a step kill its origin.
func (w *world) killAt(origin *fleet.Origin, moment failpoint.Point) {
	w.t.Helper()
	if moment == anyMoment {
		origin.Kill()
	} else {
		origin.Arm(w.t, moment, failpoint.Kill)
		origin.AwaitHit(w.t, moment)
		origin.AwaitEnd(w.t)
	}
	w.result.Counts["kills "+string(moment)]++
}
