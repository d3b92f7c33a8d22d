package ops

import (
	"encoding/json"
	"net/http"
	"time"
)

// readiness is the body of /readyz.
type readiness struct {
	Status   string               `json:"status"` // "ok", "degraded" or "unready"
	Draining bool                 `json:"draining"`
	Parts    map[string]partState `json:"parts"`
}

type partState struct {
	State    State     `json:"state"`
	Required bool      `json:"required"`
	Since    time.Time `json:"since"` // UTC, whole seconds
	Reason   string    `json:"reason,omitempty"`
}

// readiness sums the parts up. A part that is down but optional only degrades:
// were it to make every instance unready, one dead Redis would empty the load
// balancer of services that can do without it.
func (h *Health) readiness() readiness {
	parts := h.all()
	r := readiness{Status: "ok", Draining: h.draining.Load(), Parts: make(map[string]partState, len(parts))}
	unready := r.Draining
	for _, p := range parts {
		s := p.status.Load()
		r.Parts[p.name] = partState{
			State: s.state, Required: p.required,
			Since: s.since.UTC().Truncate(time.Second), Reason: shown(s.reason),
		}
		if s.state != StateOK {
			r.Status = "degraded"
		}
		if s.state == StateDown && p.required {
			unready = true
		}
	}
	if unready {
		r.Status = "unready"
	}
	return r
}

// serveReady answers 200 if the service should be sent requests, else 503.
func (h *Health) serveReady(w http.ResponseWriter, _ *http.Request) {
	r := h.readiness()
	code := http.StatusOK
	if r.Status == "unready" {
		code = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(r) // fails only if the client is gone
}

// serveAlive answers 200 as long as the process can answer at all.
func serveAlive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("ok\n")) // fails only if the client is gone
}
