package bloom

import (
	"math"
	"math/bits"
)

// Shape is the size of a filter: M bits, which are those of whole words, and K
// bits a key, as many in each of its two words.
type Shape struct {
	M uint32
	K uint32
}

// Bits beyond these are damage, not a filter. MaxM bits are 256 MiB, half of
// what one Redis string holds.
const (
	MaxM = 1 << 31
	MaxK = 16
)

// Valid reports whether a filter of this shape can exist.
func (s Shape) Valid() bool {
	return s.M > 0 && s.M <= MaxM && s.M%WordBits == 0 && s.K > 0 && s.K <= MaxK && s.K%perKey == 0
}

func (s Shape) words() uint32 { return s.M / WordBits }

// Beyond orders shapes by size, M before K: of two shapes that differ one is
// beyond the other.
func (s Shape) Beyond(o Shape) bool { return s.M > o.M || s.M == o.M && s.K > o.K }

// Doubled is the shape for twice as many keys at the same rate, within MaxM.
func (s Shape) Doubled() Shape {
	return Shape{M: uint32(min(2*uint64(s.M), MaxM)), K: s.K}
}

// Keys estimates how many keys were added from the number of bits that are set,
// marks among them: −(m/k) ln(1 − set/m) for the m bits of keys (Swamidass and
// Baldi 2007).
func (s Shape) Keys(set uint64) float64 {
	m := float64(s.words()) * keyBits
	free := 1 - max(0, float64(set)-float64(s.words()))/m
	if free <= 0 {
		return math.Inf(1)
	}
	return -m / float64(s.K) * math.Log(free)
}

// Places are those of the key with this hash (link.Key.Hash). They come from two
// values mixed from the hash with constants of their own, so that a shard's
// filter does not suffer from its keys sharing the hash's low bits.
func (s Shape) Places(hash uint64) (places [perKey]Place) {
	seeds := [perKey]uint64{hash ^ 0x9e3779b97f4a7c15, hash ^ 0xd1b54a32d192ed03}
	for i, seed := range seeds {
		seed = mix(seed)
		word, _ := bits.Mul64(seed, uint64(s.words())) // seed · words / 2⁶⁴: uniform without division
		// Digits of another mixture to the base of the bits, each uniform, one after the other.
		rest := mix(seed)
		p := Place{Word: uint32(word)} //nolint:gosec // below the words of a shape
		for range s.K / perKey {
			var bit uint64
			bit, rest = bits.Mul64(rest, keyBits)
			p.Bits |= 1 << bit
		}
		places[i] = p
	}
	return places
}

// Positions appends to dst the numbers of a key's bits in the whole string, K at
// most, as SETBIT counts them.
func (s Shape) Positions(hash uint64, dst []uint32) []uint32 {
	for _, p := range s.Places(hash) {
		first := uint32(At(p.Word)) //nolint:gosec // MaxM and a header
		for rest := p.Bits; rest != 0; rest &= rest - 1 {
			dst = append(dst, first+uint32(bits.LeadingZeros64(rest&-rest))) //nolint:gosec // below 64
		}
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
