//go:build !race

package redirect

import "testing"

// Not under the race detector, which makes sync.Pool forget at random.

func TestAnL1HitDoesNotAllocate(t *testing.T) {
	w := newWorld(t, 10)
	w.l1.Store(key.Hash(), live(10, 5))
	w.l1.Wait()
	code, hash, ctx := []byte(key.Code), key.Hash(), t.Context()
	if got := testing.AllocsPerRun(10_000, func() {
		if a, err := w.Resolve(ctx, "", code, hash); err != nil || a.Tier != L1 {
			t.Fatalf("got %+v, %v", a, err)
		}
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}
