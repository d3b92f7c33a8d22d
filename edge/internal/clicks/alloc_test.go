//go:build !race

package clicks

import "testing"

// Not under the race detector, which makes sync.Pool forget at random.
func TestCountingAllocatesNothing(t *testing.T) {
	e := startEdge(t, t.TempDir(), newOrigin(t), newClock(), nil)
	r := visit(1, 1)
	for range 100 {
		e.Count(r)
	}
	if n := testing.AllocsPerRun(200, func() { e.Cancel(e.Count(r), r) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}
