package bloom

import (
	"math"
	"testing"
)

// The sizes of a Bloom filter without words are the least that there can be: m = −n ln p / (ln 2)².
func TestSizeIsALittleMoreThanTheLeast(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n     uint64
		p     float64
		more  float64 // than the least, at most
		wantK uint32
	}{
		{1_000_000, 0.5, 1.2, 2},
		{1_000_000, 0.1, 1.1, 4},
		{1_000_000, 0.01, 1.07, 6},
		{10_000_000, 0.01, 1.07, 6},
		{1_000_000, 0.001, 1.2, 8},
		{1_000_000, 0.0001, 1.3, 12},
	} {
		m, k := Size(tc.n, tc.p)
		least := -float64(tc.n) * math.Log(tc.p) / (math.Ln2 * math.Ln2)
		if got := float64(m) / least; got < 1 || got > tc.more || k != tc.wantK {
			t.Errorf("Size(%d, %v): got %d (%.3f of the least), %d, want 1 to %.2f, %d", tc.n, tc.p, m, got, k, tc.more, tc.wantK)
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
		{1_000_000, 0.01, Shape{M: 158_784, K: 6}},
		{0, 0.01, Shape{M: 64, K: 6}},
		{1, 0.99, Shape{M: 64, K: 2}},
		{math.MaxUint64, 1e-300, Shape{M: MaxM, K: MaxK}},
	} {
		got := ShapeOf(tc.n, tc.p, shards)
		if got != tc.want || !got.Valid() {
			t.Errorf("ShapeOf(%d, %v): got %+v (valid: %v), want %+v", tc.n, tc.p, got, got.Valid(), tc.want)
		}
	}
}

func TestAShapeIsLeftBeforeItsRateIsExceeded(t *testing.T) {
	t.Parallel()
	const keys, share = 1_000_000, 0.8 // of its capacity, at which a shard's filter is built larger
	for _, p := range []float64{0.5, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0001} {
		s := ShapeOf(keys, p, 1)
		full := share * s.Capacity()
		if got := rate(float64(s.M)/full, s.K/perKey); got > p || full < keys/3 {
			t.Errorf("rate %v: at %.0f keys of %d: got %v, want no more", p, full, keys, got)
		}
	}
}
