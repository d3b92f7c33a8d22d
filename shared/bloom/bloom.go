// Package bloom is the Bloom filter of one shard as pure arithmetic: its size,
// its header, and which bits belong to a key.
package bloom

// End is the byte behind the bits. Redis reads zeros beyond a string's end, so
// that a filter that was cut short would look like one that knows no key; a
// reader asks for this byte together with the bits and believes neither
// without it.
const End = 0xb1

// Bytes is the length of the whole string: header, bits rounded up to bytes,
// and the end mark.
func (s Shape) Bytes() int { return s.EndAt() + 1 }

// EndAt is the offset of the end mark, in bytes.
func (s Shape) EndAt() int { return HeaderSize + int((uint64(s.M)+7)/8) } //nolint:gosec // at most 256 MiB

// Filter is a filter built in memory: header and bits as they will be stored.
// It is not safe for concurrent use.
type Filter struct {
	Header
	bits []byte
}

// New is an empty filter. h's shape must be valid.
func New(h Header) *Filter {
	return &Filter{Header: h, bits: make([]byte, (uint64(h.M)+7)/8)}
}

// Add sets the bits of the key with this hash.
func (f *Filter) Add(hash uint64) {
	var buf [MaxK]uint32
	for _, p := range f.Positions(hash, buf[:0]) {
		f.bits[p/8] |= 0x80 >> (p % 8) // Redis numbers bits from the most significant
	}
}

// Has reports whether all bits of the key are set: false is certain, true is
// "maybe".
func (f *Filter) Has(hash uint64) bool {
	var buf [MaxK]uint32
	for _, p := range f.Positions(hash, buf[:0]) {
		if f.bits[p/8]&(0x80>>(p%8)) == 0 {
			return false
		}
	}
	return true
}

// Append appends header, bits and end mark: the string to store.
func (f *Filter) Append(dst []byte) []byte {
	return append(append(f.Header.Append(dst), f.bits...), End)
}
