package clicks

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// maxVoids bounds the voids that wait in memory.
const maxVoids = 10_000

// voids are those that the spool did not take: offsets of clicks of the own log
// that count for nothing as long as this process lives. The spool is asked once
// more at its end.
type voids struct {
	some atomic.Bool // spares the lock where there is none, as there nearly never is
	mu   sync.Mutex
	at   map[uint64]bool // whether the click was left out of a stretch
}

// put is not ok if there are too many.
func (v *voids) put(at uint64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.at) >= maxVoids {
		return false
	}
	if v.at == nil {
		v.at = make(map[uint64]bool)
	}
	v.at[at] = false
	v.some.Store(true)
	return true
}

// forget drops those below an offset, which is shipped, and says of how many the
// click had been added up before they came.
func (v *voids) forget(below uint64) (late uint64) {
	if !v.some.Load() {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for at, seen := range v.at {
		if at >= below {
			continue
		}
		delete(v.at, at)
		if !seen {
			late++
		}
	}
	v.some.Store(len(v.at) > 0)
	return late
}

// has says that a click, which is about to be added up, is to be left out.
func (v *voids) has(at uint64) bool {
	if !v.some.Load() {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.at[at]
	if ok {
		v.at[at] = true
	}
	return ok
}

// all lists them, in no order.
func (v *voids) all() []uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Keys(v.at))
}
