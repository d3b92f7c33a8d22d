package limit

import (
	"bytes"
	"encoding/binary"
	"net/netip"
)

// parseHop reads one element of X-Forwarded-For: an IPv4 or IPv6 address,
// either with a port (IPv6 then in brackets), IPv6 in brackets also without. It
// does not allocate, which is why it is not netip.ParseAddr: that one takes a
// string and keeps it in its error and in its table of zones, and these bytes
// are the visitor's. An address with a zone is refused: no proxy is called
// from one that means anything here.
func parseHop(element []byte) (netip.Addr, bool) {
	if len(element) > 0 && element[0] == '[' {
		end := bytes.IndexByte(element, ']')
		if end < 0 || !isPortSuffix(element[end+1:]) {
			return netip.Addr{}, false
		}
		return parseIPv6(element[1:end])
	}
	colon := bytes.IndexByte(element, ':')
	if colon < 0 {
		return parseIPv4(element)
	}
	if bytes.IndexByte(element[colon+1:], ':') < 0 {
		if !isPortSuffix(element[colon:]) {
			return netip.Addr{}, false
		}
		return parseIPv4(element[:colon])
	}
	return parseIPv6(element)
}

// isPortSuffix says whether b is nothing, or a colon and one to five digits.
func isPortSuffix(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if b[0] != ':' || len(b) < 2 || len(b) > 6 {
		return false
	}
	for _, c := range b[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// parseIPv4 reads four decimal octets without leading zeros.
func parseIPv4(b []byte) (netip.Addr, bool) {
	if len(b) > len("255.255.255.255") {
		return netip.Addr{}, false
	}
	var addr [4]byte
	word := uint32(0)
	for i := range addr {
		if i > 0 {
			if len(b) == 0 || b[0] != '.' {
				return netip.Addr{}, false
			}
			b = b[1:]
		}
		digits, octet := 0, uint32(0)
		for ; digits < len(b) && b[digits] >= '0' && b[digits] <= '9'; digits++ {
			octet = octet*10 + uint32(b[digits]-'0')
		}
		if digits == 0 || digits > 3 || octet > 255 || digits > 1 && b[0] == '0' {
			return netip.Addr{}, false
		}
		word, b = word<<8|octet, b[digits:]
	}
	binary.BigEndian.PutUint32(addr[:], word)
	return netip.AddrFrom4(addr), len(b) == 0
}

// parseIPv6 reads the forms of RFC 4291, 2.2, and returns an IPv4-mapped
// address as the IPv4 one.
func parseIPv6(b []byte) (netip.Addr, bool) {
	if len(b) > len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255") {
		return netip.Addr{}, false
	}
	var addr [16]byte
	n, gap := 0, -1 // bytes read so far; where "::" stood in them
	if bytes.HasPrefix(b, []byte("::")) {
		gap, b = 0, b[2:]
	}
	for len(b) > 0 {
		if n > 0 && n != gap {
			if b[0] != ':' {
				return netip.Addr{}, false
			}
			b = b[1:]
			if len(b) > 0 && b[0] == ':' {
				if gap >= 0 {
					return netip.Addr{}, false
				}
				gap, b = n, b[1:]
				continue
			}
		}
		if v4, ok := parseIPv4(b); ok {
			if n > 12 {
				return netip.Addr{}, false
			}
			tail := v4.As4()
			n += copy(addr[n:], tail[:])
			break
		}
		group, digits := hexGroup(b)
		if digits == 0 || n == 16 {
			return netip.Addr{}, false
		}
		binary.BigEndian.PutUint16(addr[n:], group)
		n, b = n+2, b[digits:]
	}
	switch {
	case gap < 0 && n < 16, gap >= 0 && n == 16:
		return netip.Addr{}, false
	case gap >= 0:
		tail := copy(addr[16-(n-gap):], addr[gap:n])
		clear(addr[gap : 16-tail])
	}
	return netip.AddrFrom16(addr).Unmap(), true
}

// hexGroup reads one to four hex digits and says how many there were, 0 where
// there are more.
func hexGroup(b []byte) (v uint16, digits int) {
	for ; digits < len(b); digits++ {
		c := b[digits]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return v, digits
		}
		if digits == 4 {
			return 0, 0
		}
		v = v<<4 | uint16(c)
	}
	return v, digits
}
