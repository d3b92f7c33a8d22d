package e2e

import (
	"fmt"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// The edges prefer different origins, and whichever takes a click, the view is elsewhere for one of them.
func TestLiveViewShowsClicksThatAnyOriginTakes(t *testing.T) {
	t.Parallel()
	c := count(t, start(t, fleet.Spec{Origins: 2, KeepState: true}))
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/live"})
	other := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/other"})
	for _, o := range c.Origins {
		view := c.APIOf(t, o).Live(t, l)
		if e, err := view.Next(); err != nil || e.Sum == nil || e.Sum.Total != 0 {
			t.Fatalf("%s: got %+v, %v, want a second without clicks", o.Name, e, err)
		}
		// It takes some time until every origin knows that somebody looks.
		shows := func() uint64 {
			oneClick(t, c.Edges[0], l, nil)
			oneClick(t, c.Edges[1], l, nil)
			oneClick(t, c.Edges[0], other, nil)
			seen, newest := uint64(0), 0
			for began := time.Now(); seen < 2 && time.Since(began) < 5*time.Second; {
				e, err := view.Next()
				switch {
				case err != nil:
					t.Fatalf("%s: %v", o.Name, err)
				case e.Click != nil:
					newest++
				default:
					seen += e.Sum.Total
				}
			}
			if seen != uint64(newest) {
				t.Errorf("%s: %d clicks in sums, and %d one by one", o.Name, seen, newest)
			}
			return seen
		}
		fleet.Await(t, "the view shows clicks of both edges", func() error {
			if n := shows(); n != 2 {
				return fmt.Errorf("%d of 2", n)
			}
			return nil
		})
		soon(t, o.Name+" shows clicks live", func() {
			if n := shows(); n != 2 {
				t.Errorf("%s: got %d clicks, want 2", o.Name, n)
			}
		})
	}
}
