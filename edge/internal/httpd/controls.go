package httpd

import (
	"encoding/binary"
	"math/bits"
)

// controls counts the control bytes of b, those below 0x20 and 0x7f, eight at a
// time.
func controls(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(b) >= 8; b = b[8:] {
		word := binary.LittleEndian.Uint64(b)
		low := word &^ tops
		// Of the lower seven bits of a byte: from 0x20 up the first sum has its top
		// bit set, at 0x7f the second one too. No sum carries into the next byte.
		printed := (low + 0x60*ones) &^ (low + ones)
		n += bits.OnesCount64(tops &^ (printed | word))
	}
	for _, c := range b {
		if c < 0x20 || c == 0x7f {
			n++
		}
	}
	return n
}
