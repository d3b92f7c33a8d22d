package e2e

import (
	"fmt"
	"net/url"
	"testing"

	"waypost/bench/fleet"
)

// The edges hear nothing by NATS, and of two origins they know one. All that they tell it the other has to hear from it.
func TestWriteAtAnOriginThatNoEdgeCallsIsAcknowledgedByAll(t *testing.T) {
	t.Parallel()
	near := newDeaf(t) // which lets everything through
	f := prepare(t, fleet.Spec{Origins: 2, EdgeEnv: map[string]string{
		"WAYPOST_ORIGIN_URL":  near.proxy.URL,
		"WAYPOST_NATS_PREFIX": "nobody",
	}})
	to, err := url.Parse("http://" + f.Origins[0].Internal)
	if err != nil {
		t.Fatal(err)
	}
	near.to.Store(to)
	f.Launch(t)
	joined(t, f.API(t), len(f.Edges))
	far := f.APIOf(t, f.Origins[1])
	l := far.MustCreate(t, fleet.Fields{"target": "https://example.com/0"})
	for i := range 10 {
		r := retarget(t, far, &l, fmt.Sprintf("https://example.com/%d", i+1))
		if r.Edges != len(f.Edges) || r.Acked != len(f.Edges) {
			t.Errorf("write %d: receipt %+v, want all of %d edges", i, r, len(f.Edges))
		}
		for _, e := range f.Edges {
			if err := leads(e.Get(t, l.Path()), l.Target); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
	}
}
