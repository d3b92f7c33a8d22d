package bloom

import (
	"math"
	"testing"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n     uint64
		p     float64
		wantM uint64
		wantK uint32
	}{
		{1_000_000, 0.01, 9_585_059, 7},
		{1_000_000, 0.001, 14_377_588, 10},
		{1, 0.5, 2, 1},
		{0, 0.01, 10, 7},
		{1, 0.99, 1, 1},
	} {
		if m, k := Size(tc.n, tc.p); m != tc.wantM || k != tc.wantK {
			t.Errorf("Size(%d, %v): got %d, %d, want %d, %d", tc.n, tc.p, m, k, tc.wantM, tc.wantK)
		}
	}
}

func TestSizeRefusesARateThatIsNone(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Size(1, %v): got no panic, want one", p)
				}
			}()
			Size(1, p)
		}()
	}
}

func TestShapeOfIsAlwaysValid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n    uint64
		p    float64
		want Shape
	}{
		{1_000_000, 0.01, Shape{M: 149_767, K: 7}},
		{0, 0.01, Shape{M: 1, K: 7}},
		{1, 0.99, Shape{M: 1, K: 1}},
		{math.MaxUint64, 1e-300, Shape{M: MaxM, K: MaxK}},
	} {
		got := ShapeOf(tc.n, tc.p, shards)
		if got != tc.want || !got.Valid() {
			t.Errorf("ShapeOf(%d, %v): got %+v (valid: %v), want %+v", tc.n, tc.p, got, got.Valid(), tc.want)
		}
	}
}

func TestBeyondOrdersShapes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b Shape
		want bool
	}{
		{Shape{2, 1}, Shape{1, 9}, true},
		{Shape{1, 9}, Shape{2, 1}, false},
		{Shape{2, 2}, Shape{2, 1}, true},
		{Shape{2, 1}, Shape{2, 1}, false},
	} {
		if got := tc.a.Beyond(tc.b); got != tc.want {
			t.Errorf("%+v.Beyond(%+v): got %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestKeysAreEstimatedFromSetBits(t *testing.T) {
	t.Parallel()
	s := ShapeOf(20_000, 0.01, 1)
	if got := s.Capacity(); got < 18_500 || got > 20_500 {
		t.Errorf("capacity: got %.0f, want about 20,000", got)
	}
	f := New(Header{Shape: s})
	set := make(map[uint32]bool)
	for i := range uint64(10_000) {
		hash := mix(i)
		f.Add(hash)
		for _, bit := range s.Positions(hash, nil) {
			set[bit] = true
		}
	}
	if got := s.Keys(uint64(len(set))); got < 9_700 || got > 10_300 {
		t.Errorf("keys: got %.0f, want about 10,000", got)
	}
	if got := s.Keys(uint64(s.M)); !math.IsInf(got, 1) {
		t.Errorf("keys of a full filter: got %v, want +Inf", got)
	}
	if d := s.Doubled(); d.M != 2*s.M || d.K != s.K || d.Capacity() != 2*s.Capacity() {
		t.Errorf("doubled: got %+v of %+v", d, s)
	}
	if largest := (Shape{M: MaxM, K: 7}); largest.Doubled() != largest {
		t.Error("the largest shape was doubled")
	}
}
