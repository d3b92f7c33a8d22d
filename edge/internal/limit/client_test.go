package limit

import (
	"net/netip"
	"testing"
)

func TestOneClientPerIPv4AddressAndIPv6Network(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		same bool
	}{
		{"203.0.113.7", "203.0.113.7", true},
		{"203.0.113.7", "203.0.113.8", false},
		{"203.0.113.7", "::ffff:203.0.113.7", true},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true},
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"2001:db8::1", "2001:db8:0:0:1::", true},
		{"fe80::1%eth0", "fe80::2%eth1", true},
		{"0.0.0.0", "::", false},
		{"::1", "127.0.0.1", false},
	}
	for _, tt := range tests {
		a, b := ClientOf(netip.MustParseAddr(tt.a)), ClientOf(netip.MustParseAddr(tt.b))
		if got := a == b; got != tt.same {
			t.Errorf("ClientOf(%s) == ClientOf(%s): got %v, want %v", tt.a, tt.b, got, tt.same)
		}
		if got := a.id() == b.id(); got != tt.same {
			t.Errorf("ids of %s and %s equal: got %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
}

func TestKeyNamesTheClient(t *testing.T) {
	t.Parallel()
	s := shared{prefix: "wp"}
	for addr, want := range map[string]string{
		"203.0.113.7":        "wp:{203.0.113.7}:l",
		"::ffff:203.0.113.7": "wp:{203.0.113.7}:l",
		"2001:db8:a:b::99":   "wp:{2001:db8:a:b::}:l",
		"::1":                "wp:{::}:l",
	} {
		if got := s.key(ClientOf(netip.MustParseAddr(addr)).id()); got != want {
			t.Errorf("key of %s: got %q, want %q", addr, got, want)
		}
	}
}

func TestNoClientIsTakenForAFreeSlot(t *testing.T) {
	t.Parallel()
	for _, addr := range []netip.Addr{{}, netip.MustParseAddr("ffff:ffff:ffff:ffff::1"), netip.IPv6Unspecified(), netip.IPv4Unspecified()} {
		if ClientOf(addr).id() == 0 {
			t.Errorf("id of %v: got 0, want another", addr)
		}
	}
}
