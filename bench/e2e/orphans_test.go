package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"waypost/bench/fleet"
)

// orphans sees that requests for unknown codes are counted by region, and that nothing else is taken for one.
func (c *counting) orphans(t *testing.T) {
	t.Helper()
	for i, e := range c.Edges {
		for range 10 * (i + 1) {
			if err := isStatus(e.Get(t, "/"+unknownCode()), http.StatusNotFound); err != nil {
				t.Error(err)
			}
		}
		e.Must(t, fleet.Request{Path: "/" + unknownCode(), Method: http.MethodHead})
		e.Must(t, fleet.Request{Path: "/robots.txt"})
	}
	const total = 10 + 20
	// They are written down once a second, so that a click that comes later may be counted before.
	fleet.Await(t, "orphans are counted", func() error {
		o, err := c.api.Orphans(t.Context())
		if err == nil && o.Total < total {
			err = fmt.Errorf("%d", o.Total)
		}
		return err
	})
	c.settle(t)
	o, err := c.api.Orphans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, byRegion := uint64(0), fleet.Shares{}
	for _, h := range o.ByHour {
		sum += h.Total
		for region, n := range h.ByRegion {
			byRegion[region] += n
		}
	}
	if o.Total != total || sum != total || byRegion["eu"] != 10 || byRegion["us"] != 20 {
		t.Errorf("got %d orphans, %d in all hours, %v, want %d, of which 10 in eu", o.Total, sum, byRegion, total)
	}
}
