package bloom

import (
	"bytes"
	"encoding/binary"
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
	for _, shape := range []Shape{{64, 2}, {128, 6}, {192, 16}, {64_000, 6}, ShapeOf(1_000_000, 0.01, shards)} {
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
	f := New(Header{Shape: Shape{M: 64_000, K: 6}})
	for i := range 1000 {
		if f.Has(hash(i)) {
			t.Fatalf("Has(key %d): got true, want false", i)
		}
	}
}

func TestTheStringIsHeaderAndMarkedWords(t *testing.T) {
	t.Parallel()
	for _, m := range []uint32{64, 128, 64_000, 149_760} {
		h := Header{Shape: Shape{M: m, K: 6}, Epoch: 2, Position: 77, Generation: 9}
		f := New(h)
		f.Add(hash(1))
		b := f.Append(nil)
		if got, want := len(b), h.Bytes(); got != want {
			t.Errorf("m=%d: length: got %d, want %d", m, got, want)
		}
		want := New(h).Append(nil)
		for _, at := range f.Positions(hash(1), nil) {
			want[at/8] |= 0x80 >> (at % 8) // as SETBIT
		}
		if !bytes.Equal(b, want) {
			t.Errorf("m=%d: the string is not the empty one with the bits at a key's positions", m)
		}
		for i := range m / WordBits {
			at := At(i) / 8
			if w := Word(binary.BigEndian.Uint64(b[at:])); !w.Whole() {
				t.Errorf("m=%d: word %d: got %#x, want its mark", m, i, w)
			}
		}
		for _, p := range f.Places(hash(1)) {
			at := At(p.Word) / 8
			if w := Word(binary.BigEndian.Uint64(b[at:])); !p.In(w) {
				t.Errorf("m=%d: word %d: got %#x, want all bits of %#x", m, p.Word, w, p.Bits)
			}
		}
		if got, err := ParseHeader(string(b)); err != nil || got != h {
			t.Errorf("m=%d: header: got %+v, %v, want %+v", m, got, err, h)
		}
	}
}

func hash(i int) uint64 { return link.Key{Code: "code" + strconv.Itoa(i)}.Hash() }

func FuzzPositions(f *testing.F) {
	f.Add(uint64(0), uint32(64), uint32(2))
	f.Add(rand.Uint64(), uint32(MaxM), uint32(MaxK))
	f.Add(uint64(1), uint32(149_760), uint32(6))
	f.Fuzz(func(t *testing.T, hash uint64, m, k uint32) {
		s := Shape{M: m, K: k}
		if !s.Valid() {
			return
		}
		got := s.Positions(hash, nil)
		if len(got) == 0 || len(got) > int(k) {
			t.Fatalf("%+v: got %d positions, want 1 to %d", s, len(got), k)
		}
		for _, at := range got {
			if at < 8*HeaderSize || at >= 8*HeaderSize+m || at%WordBits == 0 {
				t.Fatalf("%+v: got bit %d, want one of a key", s, at)
			}
		}
	})
}
