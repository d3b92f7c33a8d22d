package visitor

import "math/bits"

// sip is the state of SipHash-2-4, a pseudorandom function of 64 bits (Aumasson
// and Bernstein, 2012), over whole words. It is a value: what has been taken in
// can be gone on from any number of times.
type sip struct{ a, b, c, d uint64 }

// newSip begins with the two words of a key.
func newSip(first, second uint64) sip {
	return sip{first ^ 0x736f6d6570736575, second ^ 0x646f72616e646f6d, first ^ 0x6c7967656e657261, second ^ 0x7465646279746573}
}

// take takes in a word.
func (s sip) take(word uint64) sip {
	s.d ^= word
	s = s.round().round()
	s.a ^= word
	return s
}

// sum is the hash of so many words.
func (s sip) sum(words int) uint64 {
	s = s.take(uint64(words) << 59) //nolint:gosec // the last byte is the number of bytes
	s.c ^= 0xff
	s = s.round().round().round().round()
	return s.a ^ s.b ^ s.c ^ s.d
}

func (s sip) round() sip {
	s.a += s.b
	s.c += s.d
	s.b = bits.RotateLeft64(s.b, 13) ^ s.a
	s.d = bits.RotateLeft64(s.d, 16) ^ s.c
	s.a = bits.RotateLeft64(s.a, 32) + s.d
	s.c += s.b
	s.d = bits.RotateLeft64(s.d, 21) ^ s.a
	s.b = bits.RotateLeft64(s.b, 17) ^ s.c
	s.c = bits.RotateLeft64(s.c, 32)
	return s
}
