package api

// InFlight is the number of requests that hold a place among those in flight.
func (a *API) InFlight() int { return len(a.slots) }
