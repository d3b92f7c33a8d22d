package chaos

import (
	"maps"
	"testing"

	"waypost/bench/fleet"
)

// scenario is a way to hurt a fleet.
type scenario struct {
	name string
	spec fleet.Spec
	play func(w *world)
	load func(l *Load) // changes the load of the long version; nil for the usual one
}

// scenarios are all there are, each with a fleet that has what it needs and no more.
func scenarios() []scenario {
	return []scenario{
		{name: "origin-killed", spec: fleet.Spec{Failpoints: true}, play: originKilled},
		{name: "nats-dead", play: natsDead},
		{name: "messages-lost", spec: relayed(fleet.Spec{}), play: messagesLost},
		{name: "region-cut", spec: fleet.Spec{ProxyEdges: true}, play: regionCut},
		{name: "redis-empty", play: redisEmpty},
		{name: "redis-old", play: redisOld},
		{name: "postgres-killed", spec: fleet.Spec{PrivatePostgres: true}, play: postgresKilled},
		{name: "postgres-restored", spec: fleet.Spec{PrivatePostgres: true}, play: postgresRestored},
		{name: "late-fills", spec: fleet.Spec{ProxyEdges: true, ProxyRedis: true}, play: lateFills, load: many},
		{name: "holder-stopped", spec: fleet.Spec{Failpoints: true}, play: holderStopped},
		{name: "edge-stopped", play: edgeStopped},
		{name: "clocks-off", spec: fleet.Spec{Failpoints: true}, play: clocksOff},
		{name: "new-links", play: newLinks},
		{name: "bulk-import", spec: smallFilters(fleet.Spec{}), play: bulkImport},
		{name: "all-at-once", spec: everything(), play: allAtOnce},
	}
}

// everything is a fleet on which every scenario can be played.
func everything() fleet.Spec {
	return smallFilters(relayed(fleet.Spec{
		KeepState: true, PrivatePostgres: true, ProxyEdges: true, ProxyRedis: true, Failpoints: true,
	}))
}

// smallFilters lays the Bloom filters out for so few links that an import makes them grow, generation by generation.
func smallFilters(spec fleet.Spec) fleet.Spec {
	env := map[string]string{"WAYPOST_FILTER_KEYS": "1000"}
	maps.Copy(env, spec.EdgeEnv)
	spec.EdgeEnv = env
	return spec
}

// TestChaos plays each scenario under load and checks all that was read meanwhile. The short versions share a fleet; each
// long one has its own, with nothing in between that it does not need.
func TestChaos(t *testing.T) {
	var shared *stage
	if testing.Short() {
		shared = open(t, everything())
	}
	var results []Result
	for _, s := range scenarios() {
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
