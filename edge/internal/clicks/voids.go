package clicks

import (
	"sync"
	"sync/atomic"
)

// maxVoids bounds the voids that wait in memory.
const maxVoids = 10_000

// voids are those that the spool did not take: offsets of clicks of the own log
// that count for nothing as long as this process lives.
type voids struct {
	some atomic.Bool // spares the lock where there is none, as there nearly never is
	mu   sync.Mutex
	at   map[uint64]struct{}
}

// put is not ok if there are too many.
func (v *voids) put(at uint64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.at) >= maxVoids {
		return false
	}
	if v.at == nil {
		v.at = make(map[uint64]struct{})
	}
	v.at[at] = struct{}{}
	v.some.Store(true)
	return true
}

// forget drops those below an offset, which is shipped.
func (v *voids) forget(below uint64) {
	if !v.some.Load() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for at := range v.at {
		if at < below {
			delete(v.at, at)
		}
	}
	v.some.Store(len(v.at) > 0)
}

func (v *voids) has(at uint64) bool {
	if !v.some.Load() {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.at[at]
	return ok
}
