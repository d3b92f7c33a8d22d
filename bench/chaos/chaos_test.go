package chaos

import (
	"testing"

	"waypost/bench/fleet"
)

// scenario is a way to hurt a fleet.
type scenario struct {
	name string
	spec fleet.Spec
	play func(w *world)
}

// everything is a fleet on which every scenario can be played.
func everything() fleet.Spec {
	return relayed(fleet.Spec{KeepState: true, PrivatePostgres: true, ProxyEdges: true, ProxyRedis: true})
}

// TestChaos plays each scenario under load and checks all that was read meanwhile. The short versions share a fleet; each
// long one has its own, with nothing in between that it does not need.
func TestChaos(t *testing.T) {
	scenarios := []scenario{
		{"origin-killed", fleet.Spec{}, originKilled},
		{"nats-dead", fleet.Spec{}, natsDead},
		{"messages-lost", relayed(fleet.Spec{}), messagesLost},
		{"region-cut", fleet.Spec{ProxyEdges: true}, regionCut},
		{"redis-empty", fleet.Spec{}, redisEmpty},
		{"postgres-killed", fleet.Spec{PrivatePostgres: true}, postgresKilled},
		{"late-fills", fleet.Spec{ProxyEdges: true, ProxyRedis: true}, lateFills},
		{"edge-stopped", fleet.Spec{}, edgeStopped},
		{"new-links", fleet.Spec{}, newLinks},
		{"all-at-once", everything(), allAtOnce},
	}
	var shared *stage
	if testing.Short() {
		shared = open(t, everything())
	}
	var results []Result
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			on := shared
			if on == nil {
				on = open(t, s.spec)
			}
			results = append(results, play(t, on, s))
		})
	}
	save(t, results)
}
