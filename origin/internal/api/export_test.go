package api

// InFlight is the number of requests that hold a place among those in flight.
func (a *API) InFlight() int { return len(a.slots) }

// HoldRollbacks takes every turn that rollbacks have, until release.
func (a *API) HoldRollbacks() (release func()) {
	for range cap(a.rollbacks) {
		a.rollbacks <- struct{}{}
	}
	return func() {
		for range cap(a.rollbacks) {
			<-a.rollbacks
		}
	}
}
