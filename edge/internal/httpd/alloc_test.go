//go:build !race

package httpd

import (
	"math"
	"runtime"
	"testing"
)

// Not under the race detector, which makes sync.Pool forget at random.
func TestAMillionL1HitsAllocateAtMost16BytesEach(t *testing.T) {
	h, ctx, end := hot(t, true)
	defer end()
	const hits = 1_000_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range hits {
		ctx.Response.Reset()
		h.serve(ctx)
	}
	runtime.ReadMemStats(&after)
	if got := math.Ceil(float64(after.TotalAlloc-before.TotalAlloc) / hits); got > 16 {
		t.Errorf("got %v bytes a hit, want at most 16", got)
	}
}

func TestAnL1HitDoesNotAllocate(t *testing.T) {
	for _, clicks := range []bool{false, true} {
		h, ctx, end := hot(t, clicks)
		serve := func() {
			ctx.Response.Reset()
			h.serve(ctx)
			if ctx.Response.StatusCode() != 302 {
				t.Fatalf("got status %d, want 302", ctx.Response.StatusCode())
			}
		}
		serve()
		if got := testing.AllocsPerRun(10_000, serve); got != 0 {
			t.Errorf("clicks %v: got %v allocations a hit, want 0", clicks, got)
		}
		if d, ok := h.Clicks.(*dropped); clicks && (!ok || d.clicks < 10_000 || d.visitors != d.clicks) {
			t.Errorf("counted %+v, want every hit, with its visitor", d)
		}
		end()
	}
}

func TestAnL1HitDoesNotAllocateForABlockList(t *testing.T) {
	h, ctx, end := hot(t, true)
	defer end()
	listed(h)
	serve := func() {
		ctx.Response.Reset()
		h.serve(ctx)
		if ctx.Response.StatusCode() != 302 {
			t.Fatalf("got status %d, want 302", ctx.Response.StatusCode())
		}
	}
	serve()
	if got := testing.AllocsPerRun(10_000, serve); got != 0 {
		t.Errorf("got %v allocations a hit, want 0", got)
	}
}

func TestADirectHitDoesNotAllocate(t *testing.T) {
	h, ctx, end := hot(t, true)
	defer end()
	listed(h)
	request := append([]byte(nil), ctx.Request.Header.Header()...)
	c := &headConn{Conn: sink{}, asked: true}
	serve := func() {
		if done, _ := h.direct(c, request); done != len(request) {
			t.Fatalf("answered %d bytes of %q", done, request)
		}
	}
	serve()
	if got := testing.AllocsPerRun(10_000, serve); got != 0 {
		t.Errorf("got %v allocations a hit, want 0", got)
	}
	if d, ok := h.Clicks.(*dropped); !ok || d.clicks < 10_000 || d.visitors != d.clicks {
		t.Errorf("counted %+v, want every hit, with its visitor", d)
	}
}
