// Package bloom is the Bloom filter of one shard as pure arithmetic: its size,
// its header, and which bits belong to a key.
package bloom

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Shape is the size of a filter: M bits and K bits a key.
type Shape struct {
	M uint32
	K uint32
}

// Bits and hashes beyond these are damage, not a filter.
const (
	maxM = 1 << 31
	maxK = 32
)

// Size is the number of bits m and of hashes k for n keys at the
// false-positive rate p: m = ⌈−n ln p / (ln 2)²⌉, k = round(m/n · ln 2)
// (Bloom 1970; Mitzenmacher and Upfal, Probability and Computing, §5.5.3).
func Size(n uint64, p float64) (m uint64, k uint32) {
	bits := math.Ceil(-float64(n) * math.Log(p) / (math.Ln2 * math.Ln2))
	return uint64(bits), uint32(max(1, math.Round(bits/float64(n)*math.Ln2)))
}

// ShapeOf is the shape of each of the filters when n keys are spread evenly
// over so many shards.
func ShapeOf(n uint64, p float64, shards int) Shape {
	m, k := Size(n, p)
	per := (m + uint64(shards) - 1) / uint64(shards) //nolint:gosec // a small positive count
	return Shape{M: uint32(min(per, maxM)), K: min(k, maxK)}
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
		dst = append(dst, uint32(hi))
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

// HeaderSize is the length of a header in bytes; the bits stand right behind it.
const HeaderSize = 32

const magic = 0x57504246 // "WPBF"

// Header stands before the bits in the same string, so that neither can be
// lost without the other.
type Header struct {
	Shape
	Epoch      uint64
	Position   uint64 // every key created up to this position of the shard is in
	Generation uint32 // drawn anew by each rebuild
}

// ErrHeader reports bytes that are no filter.
var ErrHeader = errors.New("bloom: no filter")

// Append appends the header's bytes, big-endian: magic, generation, epoch,
// position, m, k.
func (h Header) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, magic)
	dst = binary.BigEndian.AppendUint32(dst, h.Generation)
	dst = binary.BigEndian.AppendUint64(dst, h.Epoch)
	dst = binary.BigEndian.AppendUint64(dst, h.Position)
	dst = binary.BigEndian.AppendUint32(dst, h.M)
	return binary.BigEndian.AppendUint32(dst, h.K)
}

// Fields are the header's fields as they are read one by one from Redis
// (BITFIELD_RO GET of 32, 32, 64, 64, 32 and 32 bits at bit 0).
type Fields [6]int64

// Header checks the fields. The error is ErrHeader.
func (f Fields) Header() (Header, error) {
	h := Header{
		Generation: uint32(f[1]),                            //nolint:gosec // read as 32 bits
		Epoch:      uint64(f[2]),                            //nolint:gosec // two's complement
		Position:   uint64(f[3]),                            //nolint:gosec // two's complement
		Shape:      Shape{M: uint32(f[4]), K: uint32(f[5])}, //nolint:gosec // read as 32 bits
	}
	if f[0] != magic || h.M == 0 || h.M > maxM || h.K == 0 || h.K > maxK {
		return Header{}, ErrHeader
	}
	return h, nil
}

// Filter is a filter built in memory: header and bits as they will be stored.
// It is not safe for concurrent use.
type Filter struct {
	Header
	bits []byte
}

// New is an empty filter.
func New(h Header) *Filter {
	return &Filter{Header: h, bits: make([]byte, (uint64(h.M)+7)/8)}
}

// Add sets the bits of the key with this hash.
func (f *Filter) Add(hash uint64) {
	var buf [maxK]uint32
	for _, p := range f.Positions(hash, buf[:0]) {
		f.bits[p/8] |= 0x80 >> (p % 8) // Redis numbers bits from the most significant
	}
}

// Has reports whether all bits of the key are set: false is certain, true is
// "maybe".
func (f *Filter) Has(hash uint64) bool {
	var buf [maxK]uint32
	for _, p := range f.Positions(hash, buf[:0]) {
		if f.bits[p/8]&(0x80>>(p%8)) == 0 {
			return false
		}
	}
	return true
}

// Append appends header and bits: the string to store.
func (f *Filter) Append(dst []byte) []byte { return append(f.Header.Append(dst), f.bits...) }
