package bloom

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"waypost/shared/link"
)

// shards is the number of shards that links are spread over.
const shards = 64

func TestEveryAddedKeyIsFound(t *testing.T) {
	t.Parallel()
	for _, shape := range []Shape{{1, 1}, {7, 3}, {8, 32}, {1000, 7}, ShapeOf(1_000_000, 0.01, shards)} {
		t.Run(fmt.Sprintf("m=%d,k=%d", shape.M, shape.K), func(t *testing.T) {
			t.Parallel()
			f := New(Header{Shape: shape})
			for i := range 5000 {
				f.Add(hash(i))
			}
			for i := range 5000 {
				if !f.Has(hash(i)) {
					t.Fatalf("Has(key %d): got false, want true", i)
				}
			}
		})
	}
}

// The filters are filled as in service: the keys of one shard share the low
// bits of their hashes, and the shards are not filled evenly.
func TestFalsePositivesStayWithinTheRate(t *testing.T) {
	t.Parallel()
	const keys, unknown = 1_000_000, 300_000
	var filters [shards]*Filter
	for i := range filters {
		filters[i] = New(Header{Shape: ShapeOf(keys, 0.01, shards)})
	}
	for i := range keys {
		h := hash(i)
		filters[h%shards].Add(h)
	}
	wrong := 0
	for i := range unknown {
		h := hash(keys + i)
		if filters[h%shards].Has(h) {
			wrong++
		}
	}
	if got := float64(wrong) / unknown; got > 0.012 || got < 0.005 {
		t.Errorf("false positives of %d unknown keys: got %.4f, want 0.005 to 0.012", unknown, got)
	}
}

func TestAnEmptyFilterKnowsNoKey(t *testing.T) {
	t.Parallel()
	f := New(Header{Shape: Shape{M: 1000, K: 7}})
	for i := range 1000 {
		if f.Has(hash(i)) {
			t.Fatalf("Has(key %d): got true, want false", i)
		}
	}
}

func TestTheStringIsHeaderBitsAndEnd(t *testing.T) {
	t.Parallel()
	for _, m := range []uint32{1, 7, 8, 9, 1000, 149_767} {
		h := Header{Shape: Shape{M: m, K: 3}, Epoch: 2, Position: 77, Generation: 9}
		f := New(h)
		f.Add(hash(1))
		b := f.Append(nil)
		if got, want := len(b), h.Bytes(); got != want {
			t.Errorf("m=%d: length: got %d, want %d", m, got, want)
		}
		if got := b[h.EndAt()]; got != End {
			t.Errorf("m=%d: byte at %d: got %#x, want %#x", m, h.EndAt(), got, End)
		}
		for _, p := range f.Positions(hash(1), nil) {
			at := HeaderSize*8 + uint64(p)
			if b[at/8]>>(7-at%8)&1 != 1 {
				t.Errorf("m=%d: bit %d of the string: got 0, want 1", m, at)
			}
		}
		if got, err := ParseHeader(string(b)); err != nil || got != h {
			t.Errorf("m=%d: header: got %+v, %v, want %+v", m, got, err, h)
		}
	}
}

func hash(i int) uint64 { return link.Key{Code: "code" + strconv.Itoa(i)}.Hash() }

func FuzzPositions(f *testing.F) {
	f.Add(uint64(0), uint32(1), uint32(1))
	f.Add(rand.Uint64(), uint32(MaxM), uint32(MaxK))
	f.Add(uint64(1), uint32(149_767), uint32(7))
	f.Fuzz(func(t *testing.T, hash uint64, m, k uint32) {
		s := Shape{M: m, K: k}
		if !s.Valid() {
			return
		}
		got := s.Positions(hash, nil)
		if len(got) != int(k) {
			t.Fatalf("%+v: got %d positions, want %d", s, len(got), k)
		}
		for _, p := range got {
			if p >= m {
				t.Fatalf("%+v: got bit %d, want below %d", s, p, m)
			}
		}
	})
}
