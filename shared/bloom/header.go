package bloom

import (
	"encoding/binary"
	"errors"
)

// HeaderSize is the length of a header in bytes; the words stand right behind it.
const HeaderSize = 32

// Magic is the header's first four bytes, "WPB2".
const Magic = 0x57504232

// maxCount bounds epochs and positions: scripts inside Redis count in doubles,
// and what is larger is damage.
const maxCount = 1 << 53

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
	dst = binary.BigEndian.AppendUint32(dst, Magic)
	dst = binary.BigEndian.AppendUint32(dst, h.Generation)
	dst = binary.BigEndian.AppendUint64(dst, h.Epoch)
	dst = binary.BigEndian.AppendUint64(dst, h.Position)
	dst = binary.BigEndian.AppendUint32(dst, h.M)
	return binary.BigEndian.AppendUint32(dst, h.K)
}

// ParseHeader reads what Append wrote from the front of b. The error is
// ErrHeader.
func ParseHeader(b string) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, ErrHeader
	}
	var w Words
	for i := range w {
		for _, c := range []byte(b[8*i : 8*i+8]) {
			w[i] = w[i]<<8 | int64(c)
		}
	}
	return w.Header()
}

// Words are a header as it is read from Redis (BITFIELD_RO GET of an i64 from
// each of bits 0, 64, 128 and 192): magic and generation, epoch, position, m and
// k.
type Words [HeaderSize / 8]int64

// Words are those of the header.
func (h Header) Words() Words {
	//nolint:gosec // two's complement, and halves of words
	return Words{
		Magic<<32 | int64(h.Generation), int64(h.Epoch), int64(h.Position),
		int64(uint64(h.M)<<32 | uint64(h.K)),
	}
}

// Header checks the words. The error is ErrHeader.
func (w Words) Header() (Header, error) {
	//nolint:gosec // two's complement, and halves of words
	h := Header{
		Generation: uint32(w[0]),
		Epoch:      uint64(w[1]),
		Position:   uint64(w[2]),
		Shape:      Shape{M: uint32(w[3] >> 32), K: uint32(w[3])},
	}
	if uint32(w[0]>>32) != Magic || !h.Valid() || h.Epoch >= maxCount || h.Position >= maxCount { //nolint:gosec // half of a word
		return Header{}, ErrHeader
	}
	return h, nil
}
