package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// visible is how soon a click has to show where an origin takes it.
const visible = 2 * time.Second

// soon measures how long something takes until it shows, and fails the test if it never takes less than visible: of a
// few attempts one may meet a moment in which a busy machine runs nothing.
func soon(t *testing.T, what string, happens func()) {
	t.Helper()
	var took []time.Duration
	for range 3 {
		began := time.Now()
		happens()
		took = append(took, time.Since(began).Round(time.Millisecond))
		if took[len(took)-1] <= visible {
			t.Logf("%s after %v", what, took)
			return
		}
	}
	t.Errorf("%s after %v, want %v at most", what, took, visible)
}

func TestClickShowsWithinTwoSecondsAndEachOfManyExactlyOnce(t *testing.T) {
	t.Parallel()
	fleet.OneDay(t, time.Minute)
	c := count(t, start(t, fleet.Spec{KeepState: true}))
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/many"})
	n := uint64(0)
	soon(t, "a click on each edge shows", func() {
		for _, e := range c.Edges {
			oneClick(t, e, l, nil)
			n++
		}
		c.api.AwaitClicks(t, l, n)
	})
	const clients, each = 8, 250
	atEvery(c.Edges, func(e *fleet.Edge) { clicks(t, e, l, clients/2, clients*each/2) })
	c.settle(t)
	n += clients * each
	s := c.has(t, l, n, 0)
	if s.ByRegion["eu"] != n/2 || s.ByRegion["us"] != n/2 || s.Hours() != n {
		t.Errorf("got %v and hours %v, want %d of each region", s.ByRegion, s.ByHour, n/2)
	}
	c.newest(t)
	c.anew(t)
	c.orphans(t)
}

// newest sees that the newest 20 of 30 clicks are kept, newest first. An edge's estimate of the time may step back by a
// part of a round trip while they are made, hence more than one attempt.
func (c *counting) newest(t *testing.T) {
	t.Helper()
	var err error
	for range 3 {
		if err = c.newestOf30(t); err == nil {
			return
		}
	}
	t.Error(err)
}

func (c *counting) newestOf30(t *testing.T) error {
	t.Helper()
	const all, kept = 30, 20
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/newest"})
	referrer := func(i int) string { return fmt.Sprintf("site-%d.example", i) }
	for i := range all {
		oneClick(t, c.Edges[0], l, map[string]string{"Referer": "https://" + referrer(i) + "/page"})
	}
	c.settle(t)
	c.has(t, l, all, 0)
	newest, err := c.api.Clicks(t.Context(), l)
	if err != nil || len(newest) != kept {
		t.Fatalf("got %d newest clicks, %v, want %d", len(newest), err, kept)
	}
	for i, got := range newest {
		if i > 0 && got.At.After(newest[i-1].At) {
			t.Errorf("newest click %d is of %s, and the one before it of %s", i, got.At, newest[i-1].At)
		}
		if want := referrer(all - 1 - i); got.Referrer != want || got.Region != "eu" {
			return fmt.Errorf("newest click %d: got %+v, want referrer %s", i, got, want)
		}
	}
	return nil
}

// anew sees that clicks can be erased, that those of a deleted link stay, and that another link under its code starts at
// zero.
func (c *counting) anew(t *testing.T) {
	t.Helper()
	l := c.api.MustCreate(t, fleet.Fields{"alias": "anew", "target": "https://example.com/anew"})
	clicks(t, c.Edges[0], l, 1, 5)
	c.settle(t)
	c.has(t, l, 5, 0)
	if err := c.api.EraseClicks(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if s := c.has(t, l, 0, 0); s.UniqueToday != 0 || s.Hours() != 0 {
		t.Errorf("after the erasure: got %+v", s)
	}
	if newest, err := c.api.Clicks(t.Context(), l); err != nil || len(newest) != 0 {
		t.Errorf("after the erasure: got newest clicks %v, %v", newest, err)
	}
	clicks(t, c.Edges[1], l, 1, 3)
	c.settle(t)
	c.has(t, l, 3, 0)
	c.api.MustDelete(t, l)
	c.has(t, l, 3, 0)
	l = c.api.MustCreate(t, fleet.Fields{"alias": "anew", "target": "https://example.com/again"})
	c.has(t, l, 0, 0)
	clicks(t, c.Edges[0], l, 1, 2)
	c.settle(t)
	c.has(t, l, 2, 0)
}

func TestWhatIsNoClickNeverCounts(t *testing.T) {
	t.Parallel()
	c := count(t, start(t, fleet.Spec{
		KeepState: true, Edges: []string{"eu", "off", "limited"},
		OneEdgeEnv: []map[string]string{
			1: {"WAYPOST_CLICKS": "off"},
			2: {"WAYPOST_LIMIT_MODE": "async", "WAYPOST_LIMIT_RATE": "0.01", "WAYPOST_LIMIT_BURST": "7"},
		},
	}))
	counts, off, limited := c.Edges[0], c.Edges[1], c.Edges[2]
	l := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/counts"})
	silent := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/silent", "clicks": "off"})
	disabled := c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/", "enabled": false})
	past := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	expired := c.api.MustPatch(t, c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/"}), fleet.Fields{"expires_at": past})
	moved := c.api.MustPatch(t, c.api.MustCreate(t, fleet.Fields{"target": "https://example.com/", "expired_url": "https://example.com/moved"}),
		fleet.Fields{"expires_at": past})
	c.Settle(t)

	for _, r := range []struct {
		request fleet.Request
		want    int
	}{
		{fleet.Request{Path: l.Path()}, http.StatusFound},
		{fleet.Request{Path: l.Path() + "/"}, http.StatusFound},
		{fleet.Request{Path: l.Path(), Method: http.MethodHead}, http.StatusFound},
		{fleet.Request{Path: l.Path() + "+"}, http.StatusOK},
		{fleet.Request{Path: l.Path(), Method: http.MethodPost}, http.StatusMethodNotAllowed},
		{fleet.Request{Path: l.Path(), Method: http.MethodDelete}, http.StatusMethodNotAllowed},
		{fleet.Request{Path: l.Path() + "/suffix"}, http.StatusNotFound},
		{fleet.Request{Path: l.Path() + "%00"}, http.StatusNotFound},
		{fleet.Request{Path: silent.Path()}, http.StatusFound},
		{fleet.Request{Path: disabled.Path()}, http.StatusGone},
		{fleet.Request{Path: expired.Path()}, http.StatusGone},
		{fleet.Request{Path: moved.Path()}, http.StatusFound},
		{fleet.Request{Path: moved.Path(), Method: http.MethodHead}, http.StatusFound},
		{fleet.Request{Path: "/robots.txt"}, http.StatusOK},
		{fleet.Request{Path: l.Path(), Header: map[string]string{"Sec-Purpose": "prefetch"}}, http.StatusFound},
	} {
		if got := counts.Must(t, r.request); got.Status != r.want {
			t.Errorf("%s %s: got %d, want %d", r.request.Method, r.request.Path, got.Status, r.want)
		}
		if r.request.Header == nil { // a prefetch is a bot's
			off.Must(t, r.request)
		}
	}
	refused := 0
	for range 20 {
		if limited.Get(t, l.Path()).Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 13 {
		t.Errorf("%d of 20 requests were limited, want all but the burst of 7", refused)
	}

	c.settle(t, counts)
	admitted := uint64(20 - refused)
	fleet.Await(t, "the clicks of the limited edge are counted", func() error {
		s, err := c.api.Stats(t.Context(), l, nil)
		if err == nil && s.ByRegion["limited"] < admitted {
			err = fmt.Errorf("%d", s.ByRegion["limited"])
		}
		return err
	})
	limited.AwaitShipped(t)
	c.has(t, l, 3+admitted, 1)
	c.has(t, moved, 1, 0)
	for _, none := range []fleet.Link{silent, disabled, expired} {
		c.has(t, none, 0, 0)
	}
	if _, err := os.Stat(filepath.Join(off.State, "clicks")); !os.IsNotExist(err) {
		t.Errorf("an edge that counts nothing has a folder for clicks: %v", err)
	}
}
