package chaos

import (
	"time"

	"waypost/bench/fleet"
)

// The prefixes of edges and origins whose messages go through a relay.
const (
	edgePrefix   = "far"
	originPrefix = "near"
)

// relayed is a fleet whose edges hear nothing of the origins by NATS but through a relay.
func relayed(spec fleet.Spec) fleet.Spec {
	spec.EdgeEnv = map[string]string{"WAYPOST_NATS_PREFIX": edgePrefix}
	spec.OriginEnv = map[string]string{"WAYPOST_NATS_PREFIX": originPrefix}
	return spec
}

// messagesLost loses, repeats and reorders 5 % of changes and of acknowledgements each. No edge may notice.
func messagesLost(w *world) {
	before := w.relay.Carried()
	w.relay.Hurt(0.05)
	w.pass(w.long(1500*time.Millisecond, 30*time.Second))
	w.relay.Hurt(0)
	after := w.relay.Carried()
	w.t.Logf("relay: %+v", after)
	if after.Dropped == before.Dropped || after.Repeated == before.Repeated || after.Reordered == before.Reordered {
		w.t.Errorf("the relay has not done all that it is for: %+v, then %+v", before, after)
	}
}
