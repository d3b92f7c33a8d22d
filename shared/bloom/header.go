package bloom

import (
	"encoding/binary"
	"errors"
)

// HeaderSize is the length of a header in bytes; the bits stand right behind it.
const HeaderSize = 32

// Magic is the header's first four bytes, "WPBF".
const Magic = 0x57504246

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
	var f Fields
	at := 0
	for i, width := range [...]int{4, 4, 8, 8, 4, 4} {
		for range width {
			f[i] = f[i]<<8 | int64(b[at])
			at++
		}
	}
	return f.Header()
}

// Fields are the header's fields as they are read one by one from Redis
// (BITFIELD_RO GET of u32, u32, i64, i64, u32 and u32 from bit 0).
type Fields [6]int64

// Header checks the fields. The error is ErrHeader.
func (f Fields) Header() (Header, error) {
	h := Header{
		Generation: uint32(f[1]),                            //nolint:gosec // read as 32 bits
		Epoch:      uint64(f[2]),                            //nolint:gosec // two's complement
		Position:   uint64(f[3]),                            //nolint:gosec // two's complement
		Shape:      Shape{M: uint32(f[4]), K: uint32(f[5])}, //nolint:gosec // read as 32 bits
	}
	if f[0] != Magic || !h.Valid() || h.Epoch >= maxCount || h.Position >= maxCount {
		return Header{}, ErrHeader
	}
	return h, nil
}
