package bloom

import (
	"math"
	"math/bits"
)

// Shape is the size of a filter: M bits and K bits a key.
type Shape struct {
	M uint32
	K uint32
}

// Bits and hashes beyond these are damage, not a filter. MaxM bits are 256 MiB,
// half of what one Redis string holds.
const (
	MaxM = 1 << 31
	MaxK = 32
)

// Size is the number of bits m and of hashes k for n keys at the
// false-positive rate p: m = ⌈−n ln p / (ln 2)²⌉, k = round(m/n · ln 2)
// (Bloom 1970; Mitzenmacher and Upfal, Probability and Computing, §5.5.3).
// n = 0 counts as one key; p outside (0, 1) panics.
func Size(n uint64, p float64) (m uint64, k uint32) {
	if !(p > 0 && p < 1) {
		panic("bloom: the false-positive rate is not between 0 and 1")
	}
	keys := math.Max(1, float64(n))
	size := math.Ceil(-keys * math.Log(p) / (math.Ln2 * math.Ln2))
	return uint64(min(size, 1<<62)), uint32(max(1, math.Round(size/keys*math.Ln2)))
}

// ShapeOf is the shape of each of the filters when n keys are spread evenly
// over so many shards, within MaxM and MaxK.
func ShapeOf(n uint64, p float64, shards int) Shape {
	m, k := Size(n, p)
	per := (m + uint64(shards) - 1) / uint64(shards) //nolint:gosec // a small positive count
	return Shape{M: uint32(min(per, MaxM)), K: min(k, MaxK)}
}

// Valid reports whether a filter of this shape can exist.
func (s Shape) Valid() bool { return s.M > 0 && s.M <= MaxM && s.K > 0 && s.K <= MaxK }

// Beyond orders shapes by size, M before K: of two shapes that differ one is
// beyond the other.
func (s Shape) Beyond(o Shape) bool { return s.M > o.M || s.M == o.M && s.K > o.K }

// Capacity is the number of keys that the shape is laid out for: at it half of
// the bits are set, which is where k = m/n · ln 2 stands.
func (s Shape) Capacity() float64 { return float64(s.M) * math.Ln2 / float64(s.K) }

// Keys estimates how many keys were added from the number of bits that are set:
// −(m/k) ln(1 − set/m) (Swamidass and Baldi 2007).
func (s Shape) Keys(set uint64) float64 {
	free := 1 - min(float64(set)/float64(s.M), 1)
	if free == 0 {
		return math.Inf(1)
	}
	return -float64(s.M) / float64(s.K) * math.Log(free)
}

// Doubled is the shape for twice as many keys at the same rate, within MaxM.
func (s Shape) Doubled() Shape {
	return Shape{M: uint32(min(2*uint64(s.M), MaxM)), K: s.K}
}

// Positions appends to dst the K bit numbers (0 ≤ bit < M) of the key with
// this hash (link.Key.Hash). They come from two values mixed from the hash
// with constants of their own, so that a shard's filter does not suffer from
// its keys sharing the hash's low bits; double hashing after Kirsch and
// Mitzenmacher, "Less Hashing, Same Performance" (2006).
func (s Shape) Positions(hash uint64, dst []uint32) []uint32 {
	a := mix(hash ^ 0x9e3779b97f4a7c15)
	b := mix(hash^0xd1b54a32d192ed03) | 1
	for range s.K {
		hi, _ := bits.Mul64(a, uint64(s.M)) // a · M / 2⁶⁴: uniform without division
		dst = append(dst, uint32(hi))       //nolint:gosec // below M
		a += b
	}
	return dst
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection
// in which every input bit moves every output bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
