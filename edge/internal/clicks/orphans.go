package clicks

import (
	"sync"

	"waypost/shared/click"
)

// orphans counts requests for codes that do not exist, by the hour and not by
// what was asked for.
type orphans struct {
	mu    sync.Mutex
	hours map[int64]uint64
}

// add counts one at a time in microseconds since 1970.
func (o *orphans) add(at int64) {
	hour := click.HourOf(at)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hours == nil {
		o.hours = make(map[int64]uint64)
	}
	o.hours[hour]++
}

// take returns what was counted and forgets it.
func (o *orphans) take() map[int64]uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	hours := o.hours
	o.hours = nil
	return hours
}

// put gives back what could not be recorded.
func (o *orphans) put(c click.HourCount) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hours == nil {
		o.hours = make(map[int64]uint64)
	}
	o.hours[c.Hour] += c.Count
}
