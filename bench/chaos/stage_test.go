package chaos

import (
	"context"
	"sync/atomic"
	"testing"

	"waypost/bench/fleet"
)

// stage is a fleet to be hurt: two regions of two edges each, and two origins.
type stage struct {
	*fleet.Fleet
	seed  uint64
	boots []atomic.Int64 // of each edge
	relay *Relay         // nil if edges and origins hear each other
}

// open starts a stage, which ends with the test.
func open(t *testing.T, spec fleet.Spec) *stage {
	t.Helper()
	spec.Binaries = bin
	spec.Origins = 2
	spec.Edges = []string{"eu", "eu", "us", "us"}
	s := &stage{Fleet: fleet.Prepare(t, spec), seed: seed(t), boots: make([]atomic.Int64, len(spec.Edges))}
	t.Logf("seed %d", s.seed)
	if spec.EdgeEnv["WAYPOST_NATS_PREFIX"] != spec.OriginEnv["WAYPOST_NATS_PREFIX"] {
		s.carry(t)
	}
	s.Launch(t)
	s.Settle(t)
	return s
}

// carry runs a relay until the test ends.
func (s *stage) carry(t *testing.T) {
	t.Helper()
	load := Load{Seed: s.seed}
	relay, err := NewRelay(s.NATS.URL(), edgePrefix, originPrefix, load.random(3, 0))
	if err != nil {
		t.Fatal(err)
	}
	s.relay = relay
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		relay.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}
