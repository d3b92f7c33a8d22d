package limit

import (
	"encoding/binary"
	"net/netip"
)

// Client is who a bucket belongs to: an IPv4 address, or the /64 of an IPv6
// address, because a host is commonly handed a whole /64 to choose from. IPv4
// stands in its IPv4-mapped form, IPv6 with the lower 64 bits zero.
type Client [16]byte

// ClientOf returns the client behind addr. An IPv4-mapped IPv6 address is the
// IPv4 address; a zone is ignored. The zero Addr (a peer without an address)
// is a client as well: all such peers share one bucket.
func ClientOf(addr netip.Addr) Client {
	c := Client(addr.As16())
	if addr.Is6() && !addr.Is4In6() {
		clear(c[8:])
	}
	return c
}

// clientID is a Client in one word, so that a slot of the table can be matched
// by one atomic load: the complement of the /64, or of 0x0000ffff and the IPv4
// address. The two meet only in 0:ffff::/32, which lies in the block that RFC
// 4291 reserves and which is never routed. Zero is no client: it means that a
// slot is free.
type clientID uint64

const mappedIPv4 = 0xffff // the upper half of the word of an IPv4 client

func (c Client) id() clientID {
	upper, lower := binary.BigEndian.Uint64(c[:8]), binary.BigEndian.Uint64(c[8:])
	// One of the two is always zero.
	if id := clientID(^(upper | lower)); id != 0 {
		return id
	}
	return 1 // ffff:ffff:ffff:ffff::/64, multicast, is no visitor's
}

// appendTo appends the address in text form ("203.0.113.7", "2001:db8:0:1::").
func (id clientID) appendTo(dst []byte) []byte {
	var b [16]byte
	v := ^uint64(id)
	binary.BigEndian.PutUint64(b[:8], v)
	if v>>32 == mappedIPv4 {
		return netip.AddrFrom4([4]byte(b[4:8])).AppendTo(dst)
	}
	return netip.AddrFrom16(b).AppendTo(dst)
}
