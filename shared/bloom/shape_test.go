package bloom

import (
	"math"
	"testing"
)

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
	f := New(Header{Shape: s})
	set := make(map[uint32]bool)
	for i := range uint64(10_000) {
		hash := mix(i)
		f.Add(hash)
		for _, bit := range s.Positions(hash, nil) {
			set[bit] = true
		}
	}
	if got := s.Keys(uint64(len(set)) + uint64(s.words())); got < 9_600 || got > 10_400 {
		t.Errorf("keys: got %.0f, want about 10,000", got)
	}
	if got := s.Keys(uint64(s.M)); !math.IsInf(got, 1) {
		t.Errorf("keys of a full filter: got %v, want +Inf", got)
	}
	if d := s.Doubled(); d.M != 2*s.M || d.K != s.K || d.Capacity() != 2*s.Capacity() {
		t.Errorf("doubled: got %+v of %+v", d, s)
	}
	if largest := (Shape{M: MaxM, K: 6}); largest.Doubled() != largest {
		t.Error("the largest shape was doubled")
	}
}
