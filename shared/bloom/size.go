package bloom

import "math"

// Size is the number of bits m of a filter for n keys at the false-positive rate
// p, and of bits k a key, so that m is smallest, or mostPerKey a key. n = 0 counts
// as one key; p outside (0, 1) panics.
func Size(n uint64, p float64) (m uint64, k uint32) {
	if !(p > 0 && p < 1) {
		panic("bloom: the false-positive rate is not between 0 and 1")
	}
	least := float64(mostPerKey)
	k = MaxK
	for bits := uint32(1); bits <= MaxK/perKey; bits++ {
		if each := bitsPerKey(p, bits); each < least {
			least, k = each, perKey*bits
		}
	}
	return uint64(min(math.Ceil(math.Max(1, float64(n))*least), 1<<62)), k
}

// mostPerKey is the most bits a key that a filter is laid out for.
const mostPerKey = 1 << 10

// bitsPerKey is how many bits of a filter a key needs at the rate p, with so many
// bits in each of its words; infinitely many where mostPerKey do not suffice.
func bitsPerKey(p float64, bits uint32) float64 {
	if rate(mostPerKey, bits) > p {
		return math.Inf(1)
	}
	low, high := 0.0, float64(mostPerKey)
	for range 40 { // halvings: far below a bit in a million keys
		middle := (low + high) / 2
		if rate(middle, bits) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// rate is the false-positive rate of a filter with so many bits a key, and so
// many bits of a key in each of its words. The keys of a word are Poisson
// distributed; among j of them, a bit is set with probability 1 − (1 − 1/63)^(j·bits)
// (Putze, Sanders and Singler 2007, equation 3).
func rate(perKeyBits float64, bits uint32) float64 {
	mean := perKey * WordBits / perKeyBits
	const widest = 12 // standard deviations beyond which nothing counts
	last := int(mean + widest*math.Sqrt(mean) + widest)
	found := 0.0 // by chance in one word
	for j := range last + 1 {
		keys := float64(j)
		logFactorial, _ := math.Lgamma(keys + 1)
		share := math.Exp(keys*math.Log(mean) - mean - logFactorial)
		set := 1 - math.Pow(1-1.0/keyBits, keys*float64(bits))
		found += share * math.Pow(set, float64(bits))
	}
	return math.Pow(found, perKey)
}

// ShapeOf is the shape of each of the filters when n keys are spread evenly
// over so many shards, within MaxM.
func ShapeOf(n uint64, p float64, shards int) Shape {
	m, k := Size(n, p)
	per := (m + uint64(shards) - 1) / uint64(shards) //nolint:gosec // a small positive count
	words := (min(per, MaxM) + WordBits - 1) / WordBits
	return Shape{M: uint32(WordBits * words), K: k}
}

// full is the share of set bits up to which a filter is used as it is laid out:
// that at which the rate of Size is reached for 1 %, and not beyond it for rates
// from 0.01 % to 50 % when a fifth of Capacity is left.
const full = 0.45

// Capacity is about the number of keys that the shape is laid out for.
func (s Shape) Capacity() float64 {
	return float64(s.words()) * math.Log(1-full) / (float64(s.K) * math.Log(1-1.0/keyBits))
}
