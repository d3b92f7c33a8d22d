package spool

import "testing"

func TestAReservationFitsUnlessTheRingIsFull(t *testing.T) {
	t.Parallel()
	r := newRing(minRing)
	r.written.Store(1 << 20)
	for name, c := range map[string]struct {
		end  uint64
		want bool
	}{
		"the first after a write":            {1<<20 + 8, true},
		"the last that has room":             {1<<20 + minRing, true},
		"one too many":                       {1<<20 + minRing + 8, false},
		"overtaken by others and the writer": {1<<20 - 4096, true},
	} {
		if got := r.fits(c.end); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

func TestASealedRingTakesNothing(t *testing.T) {
	t.Parallel()
	r := newRing(0)
	if at, ok := r.reserve(24); at != 0 || !ok {
		t.Fatalf("got %d, %t, want offset 0", at, ok)
	}
	if got := r.seal(); got != 24 {
		t.Errorf("sealed at %d, want 24", got)
	}
	if _, ok := r.reserve(24); ok {
		t.Error("reserved after the seal")
	}
	if got := r.held(); got != 24 {
		t.Errorf("got %d bytes held, want 24", got)
	}
}
