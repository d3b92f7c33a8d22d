package click

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// ErrFormat reports bytes that are not what they should be: of an unknown
// format, short, overlong, out of order or beyond a bound.
var ErrFormat = errors.New("click: unknown or damaged format")

// format is the first byte of a stretch.
const format = 1

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// cut shortens a string to at most so many bytes, without cutting a character
// in two.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// isText says that a database takes it: UTF-8 without control bytes.
func isText[T []byte | string](s T) bool {
	ascii := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	return ascii || utf8.ValidString(string(s))
}

// reader takes values off the front of a slice. The first fault sticks and
// every later read gives zero, so that callers check once at the end. Numbers
// must have their shortest form: what is read has one way to be written.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail() { r.err, r.b = ErrFormat, nil }

func (r *reader) u8() uint8 {
	if len(r.b) < 1 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) u64() uint64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	v := binary.BigEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 || r.b[n-1] == 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads a number of clicks.
func (r *reader) count() uint64 {
	v := r.uvarint()
	if v > maxCount {
		r.fail()
		return 0
	}
	return v
}

// size reads a number of elements that take at least so many bytes each, and
// so bounds what is allocated for them by the bytes that are there.
func (r *reader) size(each int) int {
	v := r.uvarint()
	if v > uint64(len(r.b)/each) { //nolint:gosec // a length is no less than 0
		r.fail()
		return 0
	}
	return int(v) //nolint:gosec // at most a length
}

// hour reads the distance of an hour or a day to the one before it.
func (r *reader) hour(before int64) int64 {
	v := r.uvarint()
	if v > maxHour || int64(v)+before > maxHour {
		r.fail()
		return 0
	}
	return before + int64(v)
}

// bytes reads at most so many bytes, which share the input's memory.
func (r *reader) bytes(most int) []byte {
	n := r.size(1)
	if n > most {
		r.fail()
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) string(most int) string { return string(r.bytes(most)) }

// end fails unless the input was used up.
func (r *reader) end() error {
	if len(r.b) > 0 {
		r.fail()
	}
	return r.err
}
