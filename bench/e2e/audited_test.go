package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// bound is how old an unmarked answer may be, by default.
const bound = time.Second

// audited is start with edges that check every answer they gave against the origin's history.
func audited(t *testing.T, spec fleet.Spec) *fleet.Fleet {
	t.Helper()
	f := start(t, watched(spec))
	joined(t, f.API(t), len(f.Edges))
	return f
}

// watched is a fleet with the default bound whose edges audit all that they answer.
func watched(spec fleet.Spec) fleet.Spec {
	spec.EdgeEnv = withDefault(spec.EdgeEnv, "WAYPOST_AUDIT_EVERY", "1")
	spec.OriginEnv = withDefault(spec.OriginEnv, "WAYPOST_STALE_BOUND", "1s")
	return spec
}

// joined waits until a write is acknowledged by this many edges, and by all that it was sent to.
func joined(t *testing.T, api *fleet.API, edges int) {
	t.Helper()
	fleet.Await(t, fmt.Sprintf("%d edges acknowledge", edges), func() error {
		answer, err := api.Do(t.Context(), http.MethodPost, "/links", fleet.Fields{"target": "https://example.com/joined"})
		if err != nil {
			return err
		}
		r, err := answer.Receipt()
		if err == nil && (r.Edges != edges || r.Acked != edges) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

// neverStale ends a test on an audited fleet: the edges have checked what they served, and found nothing older than the
// bound.
func neverStale(t *testing.T, f *fleet.Fleet) {
	t.Helper()
	for _, e := range f.Edges {
		fleet.Await(t, e.Name+" has audited answers", func() error {
			m, err := e.Metrics(t.Context())
			if err != nil {
				return err
			}
			if n, err := m.Sum("waypost_edge_audited_total"); err != nil || n == 0 {
				return fmt.Errorf("%v audited, %w", n, err)
			}
			return nil
		})
		if got := e.Metric(t, "waypost_edge_stale_served_total"); got != 0 {
			t.Errorf("%s: waypost_edge_stale_served_total = %v, want 0", e.Name, got)
		}
	}
}

// wrote returns the receipt of a write that must have succeeded.
func wrote(t *testing.T, answer fleet.Answer, err error) fleet.Receipt {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status < 200 || answer.Status > 299 {
		t.Fatalf("write: status %d: %s", answer.Status, answer.Body)
	}
	r, err := answer.Receipt()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// retarget makes the link lead elsewhere and returns the receipt.
func retarget(t *testing.T, api *fleet.API, l *fleet.Link, target string) fleet.Receipt {
	t.Helper()
	answer, err := api.Do(t.Context(), http.MethodPatch, "/links/"+l.Code, fleet.Fields{"target": target})
	r := wrote(t, answer, err)
	l.Target = target
	return r
}

// marked reports whether the answer says of itself that it may be out of date.
func marked(r fleet.Reply) bool { return r.Tier() == "stale" }
