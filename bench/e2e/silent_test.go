package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"waypost/bench/fleet"
)

func TestSilentEdgeHoldsAWriteUpForTheBoundAndLaterOnesNotAtAll(t *testing.T) {
	t.Parallel()
	f := audited(t, fleet.Spec{})
	api := f.API(t)
	well, silent := f.Edges[0], f.Edges[1]
	l := api.MustCreate(t, fleet.Fields{"target": "https://example.com/0"})
	for _, e := range f.Edges {
		if err := leads(e.Get(t, l.Path()), l.Target); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
	}
	silent.Pause()
	r := retarget(t, api, &l, "https://example.com/1")
	if r.Edges != 2 || r.Acked != 1 {
		t.Errorf("receipt %+v, want 1 of 2 edges", r)
	}
	if r.Took < bound*9/10 || r.Took > bound+2*time.Second {
		t.Errorf("the write took %s, want the bound of %s", r.Took, bound)
	}
	n := 1
	write := func() fleet.Receipt {
		n++
		r := retarget(t, api, &l, fmt.Sprintf("https://example.com/%d", n))
		if err := leads(well.Get(t, l.Path()), l.Target); err != nil {
			t.Errorf("%s: %v", well.Name, err)
		}
		return r
	}
	fleet.Await(t, "the silent edge is no member any more", func() error {
		if r := write(); r.Edges != 1 || r.Acked != 1 {
			return fmt.Errorf("receipt %+v", r)
		}
		return nil
	})
	for range 5 {
		if r := write(); r.Edges != 1 || r.Acked != 1 || r.Took >= bound*9/10 {
			t.Errorf("receipt %+v, want 1 of 1 edge and no wait for the silent one", r)
		}
	}
	silent.Resume()
	fleet.Await(t, "the edge answers unmarked again", func() error {
		r := silent.Get(t, l.Path())
		if marked(r) {
			return errors.New(r.Header.Get("Cache-Status"))
		}
		if err := leads(r, l.Target); err != nil {
			t.Fatalf("%s, unmarked: %v", silent.Name, err)
		}
		return nil
	})
	joined(t, api, 2)
	neverStale(t, f)
}
