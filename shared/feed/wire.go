package feed

import (
	"encoding/binary"
	"errors"
)

// ErrFormat reports bytes that are not what they should be: an unknown format
// byte (a newer writer during a rolling upgrade), a short or an overlong input.
// Readers treat it as a miss, never as an answer.
var ErrFormat = errors.New("feed: unknown or damaged format")

// format is the first byte of everything this package writes.
const format = 1

// maxString bounds one string or value on the wire; a target is at most 8 KiB.
const maxString = 64 << 10

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// reader takes values off the front of one string. The first fault sticks and
// every later read gives zero, so callers check err once at the end. Strings
// it returns share the memory of the input.
type reader struct {
	s   string
	err error
}

func (r *reader) fail() { r.err, r.s = ErrFormat, "" }

func (r *reader) u8() uint8 {
	if len(r.s) < 1 {
		r.fail()
		return 0
	}
	v := r.s[0]
	r.s = r.s[1:]
	return v
}

func (r *reader) u16() uint16 { return uint16(r.u8())<<8 | uint16(r.u8()) }

func (r *reader) u64() uint64 {
	if len(r.s) < 8 {
		r.fail()
		return 0
	}
	var v uint64
	for i := range 8 {
		v = v<<8 | uint64(r.s[i])
	}
	r.s = r.s[8:]
	return v
}

func (r *reader) i64() int64 { return int64(r.u64()) } //nolint:gosec // two's complement both ways

func (r *reader) uvarint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.u8()
		if r.err != nil {
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail()
	return 0
}

func (r *reader) string() string {
	n := r.uvarint()
	if n > maxString || n > uint64(len(r.s)) {
		r.fail()
		return ""
	}
	v := r.s[:n]
	r.s = r.s[n:]
	return v
}

// end fails unless the input was used up.
func (r *reader) end() error {
	if r.s != "" {
		r.fail()
	}
	return r.err
}

func i64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v)) //nolint:gosec // two's complement both ways
}
