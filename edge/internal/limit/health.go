package limit

import (
	"sync"
	"sync/atomic"
)

// failuresToOpen is how many calls in a row have to fail before Redis is left
// alone: one lost packet is not an outage.
const failuresToOpen = 3

// health is the breaker in front of Redis. Every caller may open it; only Run,
// after a probe, closes it, so that no visitor waits to find out. Safe for
// concurrent use.
type health struct {
	open     atomic.Bool // Redis is left alone
	failures atomic.Int32

	mu  sync.Mutex
	err error // the error that opened it
}

// failed counts a failure, and opens at the third in a row.
func (h *health) failed(err error) {
	if h.failures.Add(1) < failuresToOpen {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open.Load() {
		h.err = err
		h.open.Store(true)
	}
}

// answered ends a row of failures. An answer that arrives late closes nothing.
func (h *health) answered() {
	if h.failures.Load() != 0 {
		h.failures.Store(0)
	}
}

// close ends an outage.
func (h *health) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = nil
	h.failures.Store(0)
	h.open.Store(false)
}

// state is nil, or the error that opened the breaker.
func (h *health) state() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}
