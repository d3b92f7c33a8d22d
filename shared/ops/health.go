package ops

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// State is the condition of one part a service depends on.
type State string

// The states of a part. A degraded part still does its work, with a loss that
// its reason names.
const (
	StateOK       State = "ok"
	StateDegraded State = "degraded"
	StateDown     State = "down"
)

// Health holds the parts of one service. All its methods may be called from
// any goroutine.
type Health struct {
	now      func() time.Time
	logger   *slog.Logger
	draining atomic.Bool

	mu    sync.Mutex // guards parts; a Part guards itself
	parts []*Part
}

// NewHealth returns a Health without parts, which is ready. Changes of parts
// are stamped by now and logged to logger.
func NewHealth(logger *slog.Logger, now func() time.Time) *Health {
	return &Health{now: now, logger: logger}
}

// Part registers something the service depends on, at start; it is down until
// first reported otherwise. A required part that is down makes the service
// unready, an optional one only degraded. Names become metric labels: they
// are fixed in code and unique.
func (h *Health) Part(name string, required bool) *Part {
	p := &Part{name: name, required: required, health: h}
	p.status.Store(&status{state: StateDown, since: h.now(), reason: "not reached yet"})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts = append(h.parts, p)
	return p
}

// Drain makes the service unready for good, so that load balancers leave it
// before it stops to accept.
func (h *Health) Drain() { h.draining.Store(true) }

func (h *Health) all() []*Part {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.parts)
}
