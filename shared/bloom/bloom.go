// Package bloom is the Bloom filter of one shard as pure arithmetic: its size,
// its header, and which bits belong to a key.
//
// The bits stand in words, and those of a key in two of them, so that a reader
// asks for two numbers whatever the number of bits is: a Bloom filter of small
// blocks (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom
// Filters", 2007, §3), with two blocks a key instead of one.
package bloom

import "encoding/binary"

const (
	// WordBits are the bits of a word: the mark, then those of keys.
	WordBits = 64
	keyBits  = WordBits - 1
	// perKey is the number of words that a key has bits in.
	perKey = 2
)

// mark is the first bit of every word, and always set. Redis reads zeros beyond a
// string's end, so that a filter that was cut short, or cleared, would look like
// one that knows no key.
const mark = uint64(1) << keyBits

// Word is a word of a filter, its first bit the most significant one, as
// BITFIELD_RO GET of an i64 reads it.
type Word uint64

// Whole reports whether a filter has this word at all: one that has not is none.
func (w Word) Whole() bool { return uint64(w)&mark != 0 }

// Place is where a key has bits: in a word, which counts from 0, these.
type Place struct {
	Word uint32
	Bits uint64
}

// In reports whether all of the bits are set in the word.
func (p Place) In(w Word) bool { return uint64(w)&p.Bits == p.Bits }

// At is the offset of a word in the whole string, in bits.
func At(word uint32) int64 { return HeaderSize*8 + WordBits*int64(word) }

// Bytes is the length of the whole string: header and words.
func (s Shape) Bytes() int { return HeaderSize + int(s.M/8) }

// Filter is a filter built in memory: header and words as they will be stored.
// It is not safe for concurrent use.
type Filter struct {
	Header
	words []uint64
}

// New is an empty filter. h's shape must be valid.
func New(h Header) *Filter {
	f := &Filter{Header: h, words: make([]uint64, h.words())}
	for i := range f.words {
		f.words[i] = mark
	}
	return f
}

// Add sets the bits of the key with this hash.
func (f *Filter) Add(hash uint64) {
	for _, p := range f.Places(hash) {
		f.words[p.Word] |= p.Bits
	}
}

// Has reports whether all bits of the key are set: false is certain, true is
// "maybe".
func (f *Filter) Has(hash uint64) bool {
	for _, p := range f.Places(hash) {
		if !p.In(Word(f.words[p.Word])) {
			return false
		}
	}
	return true
}

// Append appends header and words: the string to store.
func (f *Filter) Append(dst []byte) []byte {
	dst = f.Header.Append(dst)
	for _, w := range f.words {
		dst = binary.BigEndian.AppendUint64(dst, w)
	}
	return dst
}
