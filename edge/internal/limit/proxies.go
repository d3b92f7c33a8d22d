package limit

import (
	"bytes"
	"net/netip"
	"slices"
)

// maxHops is how many elements of X-Forwarded-For are read. Chains of proxies
// are short; a longer list is somebody's attempt to make work.
const maxHops = 32

// Proxies is the list of peers whose X-Forwarded-For is believed. The zero
// value believes nobody. Safe for concurrent use.
type Proxies struct {
	prefixes []netip.Prefix
}

// NewProxies returns the list of prefixes. Invalid prefixes match nothing; an
// IPv4-mapped prefix (::ffff:10.0.0.0/104) is the IPv4 one.
func NewProxies(prefixes []netip.Prefix) Proxies {
	p := Proxies{prefixes: make([]netip.Prefix, 0, len(prefixes))}
	for _, prefix := range prefixes {
		if !prefix.IsValid() {
			continue
		}
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		p.prefixes = append(p.prefixes, prefix.Masked())
	}
	return p
}

// Trusted says whether addr is one of the proxies. Where it is false, Client
// returns the peer whatever the header says.
func (p Proxies) Trusted(addr netip.Addr) bool {
	addr = plain(addr)
	for _, prefix := range p.prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// Client returns the address of the client of a request that came from peer
// with these X-Forwarded-For header lines, in the order of the request.
//
// Every proxy appends the address it was called from, so the list is read from
// its right end, and an element is believed only if the one that appended it
// is trusted: the answer is the first address that is not a proxy. Reading
// ends at an element that is no address ("unknown", garbage): the answer is
// then the proxy that appended it, and it is the left end of the list, or the
// 32nd element, where all of it are proxies. It does not allocate.
func (p Proxies) Client(peer netip.Addr, forwardedFor [][]byte) netip.Addr {
	client := plain(peer)
	hops := 0
	for _, line := range slices.Backward(forwardedFor) {
		rest, more := line, true
		for more {
			if hops == maxHops || !p.Trusted(client) {
				return client
			}
			hops++
			var element []byte
			rest, element, more = cutLast(rest)
			if len(element) == 0 {
				continue // RFC 9110, 5.6.1: empty list elements do not count
			}
			addr, ok := parseHop(element)
			if !ok {
				return client
			}
			client = addr
		}
	}
	return client
}

// plain returns addr without IPv4 mapping and zone, as prefixes are compared.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// cutLast splits list before its last element, which it returns without the
// white space around it; more says whether there was a comma.
func cutLast(list []byte) (before, element []byte, more bool) {
	comma := bytes.LastIndexByte(list, ',')
	if comma >= 0 {
		before = list[:comma]
	}
	return before, bytes.Trim(list[comma+1:], " \t"), comma >= 0
}
