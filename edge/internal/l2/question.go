package l2

import (
	"context"

	"github.com/redis/go-redis/v9"

	"waypost/shared/bloom"
)

// The numbers that a question to a filter reads, all in one command, so that bits
// and position belong together: what a generation may change, the key's words,
// and, where the generation's header is not known, the rest of it.
const (
	readGeneration = iota // and magic
	readPosition
	readWord
	readSecondWord
	readEpoch
	readShape
	readAll
	readKnown = readEpoch // numbers, where the header is known
)

// perRead is the arguments of one number: GET, its type, its offset in bits.
const perRead = 3

// question is what one lookup asks, and its answers: a GET of the value, and the
// BITFIELD_RO that reads the filter's numbers. What is the same for every key is
// laid out once, and serves one lookup after the other, each alone.
type question struct {
	value  *redis.StringCmd
	filter *redis.IntSliceCmd

	get   [2]any
	read  [2 + perRead*readAll]any
	words [2]int64 // offsets, which read has pointers to: they cost no memory
}

func newQuestion() *question {
	q := &question{}
	q.get[0] = "GET"
	q.read[0] = "BITFIELD_RO"
	args := q.read[:2]
	// Unsigned numbers of 64 bits are not to be had there.
	for _, offset := range []any{0, 128, &q.words[0], &q.words[1], 64, 192} {
		args = append(args, "GET", "i64", offset)
	}
	return q
}

// about makes it a question about the key with this name and hash, in a filter
// that was last seen with this header.
func (q *question) about(ctx context.Context, value string, filter any, hash uint64, seen bloom.Header) {
	q.get[1], q.read[1] = value, filter
	for i, place := range seen.Places(hash) {
		q.words[i] = bloom.At(place.Word)
	}
	numbers := readKnown
	if seen.Epoch == 0 {
		numbers = readAll
	}
	q.value = redis.NewStringCmd(ctx, q.get[:]...)
	q.filter = redis.NewIntSliceCmd(ctx, q.read[:2+perRead*numbers]...)
}

// answer is what a question reads of a filter. The error is bloom.ErrHeader.
func answer(read []int64, seen bloom.Header) (h bloom.Header, words [2]bloom.Word, err error) {
	if len(read) < readKnown {
		return bloom.Header{}, words, bloom.ErrHeader
	}
	header := seen.Words()
	header[0], header[2] = read[readGeneration], read[readPosition]
	if len(read) == readAll {
		header[1], header[3] = read[readEpoch], read[readShape]
	}
	h, err = header.Header()
	return h, [2]bloom.Word{bloom.Word(read[readWord]), bloom.Word(read[readSecondWord])}, err //nolint:gosec // two's complement
}
