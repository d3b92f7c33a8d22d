package ops

import (
	"net/http"
	"runtime"
	"sync"
	"time"
)

// How much of what goroutines wait for is looked at while a profile of it is taken. It costs some percent of a busy
// service, so nothing is looked at otherwise.
const (
	blockEvery    = 10 * time.Microsecond // one event for so much time of waiting
	mutexFraction = 10                    // one in so many waits for a mutex
)

// blocked has the runtime watch what goroutines wait for, as long as a profile of that is being taken.
type blocked struct {
	mu     sync.Mutex // guards takers, and the runtime's rates
	takers int
}

// while watches during a request for a profile over some seconds, and answers others as they are: empty, unless there
// was such a request before.
func (b *blocked) while(profile http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("seconds") != "" {
			b.change(1)
			defer b.change(-1)
		}
		profile(w, r)
	}
}

// change counts a taker more or less; the first one begins the watch, the last one ends it.
func (b *blocked) change(by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takers += by
	if b.takers > 0 {
		runtime.SetBlockProfileRate(int(blockEvery))
		runtime.SetMutexProfileFraction(mutexFraction)
		return
	}
	runtime.SetBlockProfileRate(0)
	runtime.SetMutexProfileFraction(0)
}
