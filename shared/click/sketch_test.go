package click

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// visitors are hashes of visitors from..to-1, the same ones each time.
func visitors(from, to int) []uint64 {
	all := make([]uint64, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, rand.NewPCG(uint64(i), 1).Uint64()|1)
	}
	return all
}

func sketchOf(visitors ...uint64) *Sketch {
	s := new(Sketch)
	for _, v := range visitors {
		s.Add(v)
	}
	return s
}

func TestASketchCountsVisitorsOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 63, 64, 65, 999, 1_000} {
		s := new(Sketch)
		for range 3 {
			for _, v := range visitors(0, n) {
				s.Add(v)
				s.Add(0)
			}
		}
		if got := s.Count(); got != uint64(n) {
			t.Errorf("%d visitors: got %d", n, got)
		}
	}
}

func TestALargeSketchIsNearTheTruth(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1_001, 2_000, 10_000, 100_000, 1_000_000} {
		got := sketchOf(visitors(0, n)...).Count()
		if off := math.Abs(float64(got)/float64(n) - 1); off > 0.02 {
			t.Errorf("%d visitors: got %d, off by %.2f %%", n, got, 100*off)
		}
	}
}

func TestTheSameVisitorsAtTwoEdgesCountOnce(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][3]int{{0, 0, 0}, {10, 5, 15}, {600, 400, 1_000}, {600, 500, 1_100}, {5_000, 500, 5_500}, {5_000, 3_000, 8_000}} {
		one, both, all := visitors(0, sizes[0]), visitors(sizes[1], sizes[2]), visitors(0, sizes[2])
		want := sketchOf(all...).Append(nil)
		for name, parts := range map[string][2][]uint64{
			"two edges": {one, both}, "the other way round": {both, one}, "one knows all": {all, both}, "twice": {all, all},
		} {
			s := sketchOf(parts[0]...)
			s.Merge(sketchOf(parts[1]...))
			if !bytes.Equal(s.Append(nil), want) {
				t.Errorf("%v, %s: got %d visitors in other bytes than of all at once", sizes, name, s.Count())
			}
		}
	}
}

func TestMergingLeavesTheOtherSketchAsItWas(t *testing.T) {
	t.Parallel()
	large := sketchOf(visitors(0, 3_000)...)
	before := large.Append(nil)
	s := sketchOf(visitors(3_000, 3_010)...)
	s.Merge(large)
	s.Merge(sketchOf(visitors(4_000, 6_000)...))
	if !bytes.Equal(large.Append(nil), before) {
		t.Error("the merged sketch has changed")
	}
}

func TestASketchIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1_000, 1_001, 50_000} {
		s := sketchOf(visitors(0, n)...)
		b := s.Append(nil)
		if len(b) > s.Size() {
			t.Errorf("%d visitors: %d bytes, more than the bound of %d", n, len(b), s.Size())
		}
		got, err := ParseSketch(b)
		if err != nil || got.Count() != s.Count() || !bytes.Equal(got.Append(nil), b) {
			t.Errorf("%d visitors: got %d, %v", n, got.Count(), err)
		}
		for _, cut := range []int{0, 1, len(b) / 2, len(b) - 1} {
			if _, err := ParseSketch(b[:cut]); cut < len(b) && !errors.Is(err, ErrFormat) {
				t.Errorf("%d visitors, cut to %d bytes: got %v", n, cut, err)
			}
		}
		if _, err := ParseSketch(append(b, 0)); !errors.Is(err, ErrFormat) {
			t.Errorf("%d visitors and a byte too many: got %v", n, err)
		}
	}
}

func TestSketchesOutOfOrderAreRefused(t *testing.T) {
	t.Parallel()
	two := sketchOf(1, 2).Append(nil)
	swapped := append(append(bytes.Clone(two[:2]), two[10:]...), two[2:10]...)
	twice := append(append(bytes.Clone(two[:2]), two[2:10]...), two[2:10]...)
	nobody := append([]byte{sketchExact, 1}, make([]byte, 8)...)
	large := sketchOf(visitors(0, 2_000)...).Append(nil)
	precision, register := bytes.Clone(large), bytes.Clone(large)
	precision[2], register[len(register)-1] = 13, 64
	for name, b := range map[string][]byte{
		"swapped": swapped, "twice": twice, "nobody": nobody, "another precision": precision,
		"an impossible register": register, "an unknown form": {9},
	} {
		if _, err := ParseSketch(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAResetSketchIsEmpty(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, 5_000} {
		s := sketchOf(visitors(0, n)...)
		s.Reset()
		s.Add(7)
		if got := s.Count(); got != 1 {
			t.Errorf("after %d visitors: got %d, want 1", n, got)
		}
	}
}

func FuzzParseSketch(f *testing.F) {
	f.Add(sketchOf(1, 2, 3).Append(nil))
	f.Add(sketchOf(visitors(0, 2_000)...).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSketch(b)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Append(nil), b) {
			t.Error("a sketch has two forms")
		}
		before := s.Count()
		s.Merge(&s)
		if s.Count() != before {
			t.Errorf("merged with itself: got %d, want %d", s.Count(), before)
		}
	})
}
