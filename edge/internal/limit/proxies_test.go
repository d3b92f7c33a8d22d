package limit

import (
	"net/netip"
	"strings"
	"testing"
)

// inside trusts what looks like a private network.
func inside() Proxies {
	return NewProxies([]netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("::ffff:192.168.1.0/120"),
		netip.MustParsePrefix("fd00::1/8"),
		{},
	})
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("10.0.0.9, ", 100)
	tests := []struct {
		name, peer string
		header     []string
		want       string
	}{
		{"no header", "10.0.0.1", nil, "10.0.0.1"},
		{"one hop", "10.0.0.1", []string{"203.0.113.7"}, "203.0.113.7"},
		{"spoofed by an untrusted peer", "198.51.100.1", []string{"203.0.113.7"}, "198.51.100.1"},
		{"spoofed left of the client", "10.0.0.1", []string{"203.0.113.99, 203.0.113.7"}, "203.0.113.7"},
		{"proxies are passed over", "10.0.0.1", []string{"203.0.113.7, 10.2.3.4, 10.0.0.2"}, "203.0.113.7"},
		{"stops at the first that is no proxy", "10.0.0.1", []string{"203.0.113.7, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"several lines are one list", "10.0.0.1", []string{"203.0.113.99", "203.0.113.7,10.0.0.3", "10.0.0.2"}, "203.0.113.7"},
		{"only proxies", "10.0.0.1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"ports and brackets", "10.0.0.1", []string{"[2001:db8::7]:1234, 10.0.0.2:80"}, "2001:db8::7"},
		{"white space", "10.0.0.1", []string{" \t203.0.113.7\t ,  10.0.0.2 "}, "203.0.113.7"},
		{"empty elements", "10.0.0.1", []string{"203.0.113.7,, ,", "", ","}, "203.0.113.7"},
		{"unknown", "10.0.0.1", []string{"203.0.113.7, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"garbage", "10.0.0.1", []string{"203.0.113.7, \x00\xff"}, "10.0.0.1"},
		{"garbage left of the client", "10.0.0.1", []string{"\x00\xff, 203.0.113.7"}, "203.0.113.7"},
		{"mapped peer", "::ffff:10.0.0.1", []string{"203.0.113.7"}, "203.0.113.7"},
		{"mapped hop", "10.0.0.1", []string{"203.0.113.7, ::ffff:10.0.0.2"}, "203.0.113.7"},
		{"mapped prefix", "192.168.1.9", []string{"203.0.113.7"}, "203.0.113.7"},
		{"outside of a mapped prefix", "192.168.2.9", []string{"203.0.113.7"}, "192.168.2.9"},
		{"IPv6 proxy, prefix not masked", "fd12::5", []string{"2001:db8::7"}, "2001:db8::7"},
		{"peer with a zone", "fd12::5%eth0", []string{"2001:db8::7"}, "2001:db8::7"},
		{"32 hops are read", "10.0.0.1", []string{"203.0.113.7, " + long[:31*10]}, "10.0.0.9"},
		{"31 hops and the client", "10.0.0.1", []string{"203.0.113.7, " + strings.TrimSuffix(long[:31*10], ", ")}, "203.0.113.7"},
		{"no more than 32", "10.0.0.1", []string{"203.0.113.7, " + strings.TrimSuffix(long, ", ")}, "10.0.0.9"},
		{"32 over several lines", "10.0.0.1", append([]string{"203.0.113.7"}, strings.Split(strings.TrimSuffix(long, ", "), ", ")...), "10.0.0.9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := inside().Client(netip.MustParseAddr(tt.peer), lines(tt.header...))
			if got.String() != tt.want {
				t.Errorf("Client(%s, %.100q): got %v, want %s", tt.peer, tt.header, got, tt.want)
			}
		})
	}
}

func TestHeaderIsIgnoredWithoutProxies(t *testing.T) {
	t.Parallel()
	peer := netip.MustParseAddr("10.0.0.1")
	for _, p := range []Proxies{{}, NewProxies(nil)} {
		if got := p.Client(peer, lines("203.0.113.7")); got != peer {
			t.Errorf("Client: got %v, want the peer %v", got, peer)
		}
		if p.Trusted(peer) {
			t.Errorf("Trusted(%v): got true, want false", peer)
		}
	}
}

func TestClientAddressDoesNotAllocate(t *testing.T) {
	p, peer := inside(), netip.MustParseAddr("10.0.0.1")
	for _, header := range []string{"203.0.113.7, 10.0.0.2", "[2001:db8::7]:443, 10.0.0.2:80", "unknown", "fe80::1%eth0", "\x00\xff"} {
		h := lines(header)
		if got := testing.AllocsPerRun(100, func() { p.Client(peer, h) }); got != 0 {
			t.Errorf("Client with %q: got %v allocations, want 0", header, got)
		}
	}
}

// FuzzClientAddress: whatever the header holds, an untrusted peer is the
// client, and the client is the peer or an address that the header names.
func FuzzClientAddress(f *testing.F) {
	f.Add([]byte("203.0.113.7, 10.0.0.2"), []byte("[2001:db8::1]:443"))
	f.Add([]byte(",, ,unknown"), []byte("\x00"))
	p := inside()
	trusted, stranger := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("198.51.100.1")
	f.Fuzz(func(t *testing.T, first, second []byte) {
		header := [][]byte{first, second}
		if got := p.Client(stranger, header); got != stranger {
			t.Errorf("client of an untrusted peer: got %v, want %v", got, stranger)
		}
		got := p.Client(trusted, header)
		if got == trusted {
			return
		}
		for element := range strings.SplitSeq(string(first)+","+string(second), ",") {
			if addr, ok := parseHop([]byte(strings.Trim(element, " \t"))); ok && addr == got {
				return
			}
		}
		t.Errorf("client of %q: got %v, which is nowhere in it", header, got)
	})
}

func lines(header ...string) [][]byte {
	var out [][]byte
	for _, line := range header {
		out = append(out, []byte(line))
	}
	return out
}
