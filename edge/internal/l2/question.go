package l2

import "waypost/shared/bloom"

// The numbers that a question to a filter reads: the header's words, the end
// mark, and the key's K bits.
const (
	headerWords = len(bloom.Words{})
	endMark     = headerWords
	firstBit    = headerWords + 1
)

// perRead is the arguments of one number: GET, its type, its offset in bits.
const perRead = 3

// question is the arguments of the BITFIELD_RO that reads these numbers: in one
// command, so that bits and position belong together. They are some forty, as
// many for every key, so they are laid out once and serve one lookup after the
// other, each alone.
type question struct {
	args    []any
	offsets [1 + bloom.MaxK]int64 // args has pointers into it, which cost no memory
}

func newQuestion() *question {
	q := &question{args: make([]any, 0, 2+perRead*(firstBit+bloom.MaxK))}
	q.args = append(q.args, "BITFIELD_RO", nil)
	for word := range headerWords {
		q.args = append(q.args, "GET", "i64", 64*word) // unsigned numbers of 64 bits are not to be had there
	}
	q.args = append(q.args, "GET", "u8", &q.offsets[0])
	for i := range bloom.MaxK {
		q.args = append(q.args, "GET", "u1", &q.offsets[1+i])
	}
	return q
}

// of are the arguments for the key with this hash in a filter of this shape,
// valid until the next call. filter is the filter's key, a string.
func (q *question) of(filter any, shape bloom.Shape, hash uint64) []any {
	q.args[1] = filter
	q.offsets[0] = int64(shape.EndAt()) * 8
	var buf [bloom.MaxK]uint32
	bits := shape.Positions(hash, buf[:0])
	for i, bit := range bits {
		q.offsets[1+i] = bloom.HeaderSize*8 + int64(bit)
	}
	return q.args[:2+perRead*(firstBit+len(bits))]
}
