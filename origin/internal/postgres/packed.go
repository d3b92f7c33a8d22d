package postgres

import (
	"encoding/binary"
)

func packString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// unpacker takes values off the front of a packed column. The first fault
// sticks: callers look at bad once they have taken what they want. Strings share
// the memory of the whole.
type unpacker struct {
	s   string
	bad bool
}

func (u *unpacker) fail() { u.s, u.bad = "", true }

func (u *unpacker) byte() byte {
	if u.s == "" {
		u.fail()
		return 0
	}
	v := u.s[0]
	u.s = u.s[1:]
	return v
}

func (u *unpacker) number() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := u.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	u.fail()
	return 0
}

func (u *unpacker) string() string {
	n := u.number()
	if n > uint64(len(u.s)) {
		u.fail()
		return ""
	}
	v := u.s[:n]
	u.s = u.s[n:]
	return v
}
