package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/bench/fleet"
)

// traffic is visitors who click links at edges, again and again. The counts are safe to read at any time.
type traffic struct {
	edges    []*fleet.Edge
	links    []fleet.Link
	visitors int           // at each edge
	pause    time.Duration // of a visitor between two clicks
	kills    bool          // connections may break, and edges may not listen for a time

	answered []atomic.Uint64 // by link: redirects that arrived whole
	broken   []atomic.Uint64 // by link: requests sent whose answer did not
	slowest  atomic.Int64    // nanoseconds from sending to the answer
}

// begin sends traffic until end is called; which returns when all visitors have left.
func (tr *traffic) begin(t *testing.T) (end func()) {
	t.Helper()
	tr.answered, tr.broken = make([]atomic.Uint64, len(tr.links)), make([]atomic.Uint64, len(tr.links))
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, e := range tr.edges {
		for n := range tr.visitors {
			all.Go(func() {
				if err := tr.visit(ctx, e, n); err != nil {
					t.Errorf("%s: %v", e.Name, err)
				}
			})
		}
	}
	end = func() {
		cancel()
		all.Wait()
	}
	t.Cleanup(end)
	return end
}

// visit is one visitor, who begins with the n-th link.
func (tr *traffic) visit(ctx context.Context, e *fleet.Edge, n int) error {
	var conn *fleet.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	for i := n; ctx.Err() == nil; i++ {
		if conn == nil {
			var err error
			if conn, err = fleet.Connect(context.WithoutCancel(ctx), e.Addr, netip.Addr{}); err != nil {
				if !tr.kills {
					return err
				}
				conn = nil
				rest(ctx, 5*time.Millisecond)
				continue
			}
		}
		whole, err := tr.click(conn, i%len(tr.links))
		if err != nil && !tr.kills {
			return err
		}
		if !whole {
			_ = conn.Close()
			conn = nil
		}
		rest(ctx, tr.pause)
	}
	return nil
}

// click sends one request; whole says that its answer arrived.
func (tr *traffic) click(conn *fleet.Conn, i int) (whole bool, err error) {
	began := time.Now()
	reply, err := conn.Ask(fleet.Request{Path: tr.links[i].Path()})
	if err != nil {
		tr.broken[i].Add(1)
		return false, err
	}
	took := int64(time.Since(began))
	for was := tr.slowest.Load(); took > was && !tr.slowest.CompareAndSwap(was, took); was = tr.slowest.Load() {
	}
	if err := leads(reply, tr.links[i].Target); err != nil {
		if tr.kills && reply.Status == http.StatusServiceUnavailable {
			err = nil // it has just started, and is no click
		}
		return true, err
	}
	tr.answered[i].Add(1)
	return true, nil
}

// await waits until so many more redirects have arrived.
func (tr *traffic) await(t *testing.T, more uint64) {
	t.Helper()
	from := tr.total()
	fleet.Await(t, "visitors are answered", func() error {
		if got := tr.total() - from; got < more {
			return fmt.Errorf("%d of %d", got, more)
		}
		return nil
	})
}

// total is the number of redirects that arrived.
func (tr *traffic) total() (sum uint64) {
	for i := range tr.answered {
		sum += tr.answered[i].Load()
	}
	return sum
}

// counted fails the test unless every redirect that arrived has been counted, and nothing but what may have been
// answered. All of it must have been shipped.
func (tr *traffic) counted(t *testing.T, c *counting) {
	t.Helper()
	var sum, least, most uint64
	for i, l := range tr.links {
		got := c.stats(t, l).Clicks.Total
		from, to := tr.answered[i].Load(), tr.answered[i].Load()+tr.broken[i].Load()
		if got < from || got > to {
			t.Errorf("link %d: got %d clicks, want %d to %d", i, got, from, to)
		}
		sum, least, most = sum+got, least+from, most+to
	}
	if least == 0 {
		t.Error("nobody was answered")
	}
	t.Logf("%d clicks, %d redirects and %d requests without an answer; the slowest answer took %v",
		sum, least, most-least, time.Duration(tr.slowest.Load()).Round(10*time.Microsecond))
}

// rest lets some time pass, or returns when ctx ends.
func rest(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// long is a time, or a number of something, of the short or the long version.
func long[T int | uint64 | time.Duration](short, long T) T {
	if testing.Short() {
		return short
	}
	return long
}
