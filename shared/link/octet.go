package link

import "slices"

// grammar is a set of the places in which a byte may stand as it is.
type grammar uint8

const (
	inCode  grammar = 1 << iota // the ASCII bytes of a code
	inHost                      // a label of a host name
	inPath                      // RFC 3986 pchar and "/", without "%"
	inQuery                     // inPath and "?"; also of a fragment
)

// octets says for every byte where it may stand. Bytes from 0x80 on may stand
// nowhere.
var octets = newOctets() //nolint:gochecknoglobals // constant table

func newOctets() (table [256]grammar) {
	mark := func(bytes string, in grammar) {
		for _, c := range []byte(bytes) {
			table[c] |= in
		}
	}
	mark("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", inCode|inHost|inPath|inQuery)
	mark("-_", inCode|inHost|inPath|inQuery)
	mark(".~", inCode|inPath|inQuery)
	mark("!$&'()*+,;=:@/", inPath|inQuery)
	mark("?", inQuery)
	return table
}

// isControl reports whether c is an ASCII control byte, DEL among them.
func isControl(c byte) bool { return c < 0x20 || c == 0x7f }

func hasControl(s []byte) bool {
	return slices.ContainsFunc(s, isControl)
}

// unescape decodes the percent-encoded byte at the start of s; ok is false if
// there is none.
func unescape(s []byte) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, ok1 := hexValue(s[1])
	lo, ok2 := hexValue(s[2])
	return hi<<4 | lo, ok1 && ok2
}

func hexValue(c byte) (v byte, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}

// hasBadEscape reports whether a "%" of s lacks its two hex digits.
func hasBadEscape(s []byte) bool {
	for i, c := range s {
		if c == '%' {
			if _, ok := unescape(s[i:]); !ok {
				return true
			}
		}
	}
	return false
}

// appendLegal appends s with every byte that may not stand in the grammar
// percent-encoded. Escapes that s already has stay as they are; any other "%"
// is encoded too.
func appendLegal(dst, s []byte, in grammar) []byte {
	const digits = "0123456789ABCDEF"
	for i, c := range s {
		legal := octets[c]&in != 0
		if c == '%' {
			_, legal = unescape(s[i:])
		}
		if legal {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', digits[c>>4], digits[c&0xf])
		}
	}
	return dst
}
