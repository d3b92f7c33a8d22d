package e2e

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"waypost/bench/fleet"
)

func TestFullOrReadOnlyDiskStopsNoVisitorAndLosesNoClickOfAnEdgeThatLives(t *testing.T) {
	t.Parallel()
	full, readOnly := fleet.Tmpfs(t, 64<<20, false), fleet.Tmpfs(t, 1<<20, true)
	c := count(t, start(t, fleet.Spec{
		ProxyEdges: true, OneEdgeEnv: []map[string]string{{"WAYPOST_STATE_DIR": full}, {"WAYPOST_STATE_DIR": readOnly}},
	}))
	d := &diskClicks{counting: c, edge: c.Edges[0], dir: full}
	d.link = c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/disk"})
	c.Settle(t)
	d.fullAndFreed(t)
	other := c.readOnlyDisk(t, d.link)
	c.settle(t)
	c.has(t, d.link, d.total+other, 0)
	for _, e := range c.Edges {
		if got := e.Metric(t, "waypost_edge_clicks_lost_total"); got != 0 {
			t.Errorf("%s: waypost_edge_clicks_lost_total is %v, want 0", e.Name, got)
		}
	}
	d.killedWhileFull(t, other)
}

// diskClicks are clicks of a link at an edge whose disk is a small one.
type diskClicks struct {
	*counting
	edge  *fleet.Edge
	dir   string
	link  fleet.Link
	total uint64
}

// some are n clicks, with records as long as can be.
func (d *diskClicks) some(t *testing.T, n int) {
	t.Helper()
	d.total += uint64(n)
	header := map[string]string{"Referer": "https://" + strings.Repeat("long-label.", 22) + "example/"}
	noErrors(t, d.edge.Run(t.Context(), fleet.Load{
		Conns: 8, N: n,
		Request: func(int) fleet.Request { return fleet.Request{Path: d.link.Path(), Header: header} },
		Check:   func(_ int, r fleet.Reply) error { return leads(r, d.link.Target) },
	}))
}

// fill clicks and fills the disk until it takes no record any more.
func (d *diskClicks) fill(t *testing.T) (free func()) {
	t.Helper()
	fleet.Await(t, "the disk is full", func() error {
		free = fleet.Fill(t, d.dir)
		d.some(t, 10)
		if d.edge.Metric(t, "waypost_edge_spool_stalled") != 1 {
			return errors.New("it takes records")
		}
		return nil
	})
	if got := d.edge.Metric(t, "waypost_edge_spool_held_bytes"); got == 0 {
		t.Error("nothing waits for the disk, and a kill would lose nothing")
	}
	return free
}

// fullAndFreed clicks while there is room, when there is none, until the memory for what waits for the disk is full as
// well, and when there is room again.
func (d *diskClicks) fullAndFreed(t *testing.T) {
	t.Helper()
	d.some(t, 100)
	d.settle(t, d.edge)
	free := d.fill(t)
	fleet.Await(t, "more than waits for the disk is counted in memory", func() error {
		d.some(t, 2000)
		if d.edge.Metric(t, "waypost_edge_spool_refused_total") == 0 {
			return errors.New("all of it waits for the disk")
		}
		return nil
	})
	if r, err := d.edge.Ready(t.Context()); err != nil || r.Code != http.StatusOK {
		t.Errorf("/readyz with a full disk: %+v, %v, want 200", r, err)
	}
	free()
	fleet.Await(t, "the disk takes records again", func() error {
		d.some(t, 1)
		if d.edge.Metric(t, "waypost_edge_spool_stalled") != 0 {
			return errors.New("it does not")
		}
		return nil
	})
}

// killedWhileFull sees that a kill loses no more than waited for the disk by the metrics. other is how many clicks the
// link has from elsewhere.
func (d *diskClicks) killedWhileFull(t *testing.T, other uint64) {
	t.Helper()
	held := d.edge.Metric(t, "waypost_edge_spool_held_total")
	free := d.fill(t)
	d.some(t, 50)
	held = d.edge.Metric(t, "waypost_edge_spool_held_total") - held
	d.edge.Kill()
	free()
	d.edge.Start(t)
	d.settle(t)
	got, most := d.stats(t, d.link).Clicks.Total, d.total+other
	t.Logf("killed with a full disk: %d of %d clicks lost, %v were held", most-got, most, held)
	if got > most || float64(most-got) > held {
		t.Errorf("got %d clicks, want %d, or up to %v fewer", got, most, held)
	}
}

// readOnlyDisk clicks at an edge that counts in memory, and says so as long as no origin takes it.
func (c *counting) readOnlyDisk(t *testing.T, l fleet.Link) (total uint64) {
	t.Helper()
	e := c.Edges[1]
	clicks(t, e, l, 4, 200)
	c.settle(t, e)
	e.ToOrigins[0].Cut()
	clicks(t, e, l, 4, 300)
	if got := e.Metric(t, "waypost_edge_clicks_in_memory"); got != 300 {
		t.Errorf("waypost_edge_clicks_in_memory is %v, want 300", got)
	}
	e.ToOrigins[0].Heal()
	return 500
}
