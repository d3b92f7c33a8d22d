package limit

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseHop(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{ // want "": refused
		{"203.0.113.7", "203.0.113.7"},
		{"203.0.113.7:443", "203.0.113.7"},
		{"0.0.0.0", "0.0.0.0"},
		{"2001:db8::1", "2001:db8::1"},
		{"2001:DB8::A", "2001:db8::a"},
		{"[2001:db8::1]", "2001:db8::1"},
		{"[2001:db8::1]:65535", "2001:db8::1"},
		{"::", "::"},
		{"::1", "::1"},
		{"1::", "1::"},
		{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
		{"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
		{"1::3:4:5:6:7:8", "1:0:3:4:5:6:7:8"},
		{"::ffff:203.0.113.7", "203.0.113.7"},
		{"[::ffff:203.0.113.7]:1", "203.0.113.7"},
		{"64:ff9b::203.0.113.7", "64:ff9b::cb00:7107"},
		{"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},

		{"", ""},
		{"unknown", ""},
		{"_hidden", ""},
		{"localhost", ""},
		{"203.0.113", ""},
		{"203.0.113.7.9", ""},
		{"203.0.113.256", ""},
		{"203.0.113.07", ""},
		{"203.0.113.7:", ""},
		{"203.0.113.7:x", ""},
		{"203.0.113.7:123456", ""},
		{"203.0.113.7 ", ""},
		{"[203.0.113.7]", ""},
		{"[2001:db8::1", ""},
		{"[2001:db8::1]443", ""},
		{"[]", ""},
		{"2001:db8::1]", ""},
		{"fe80::1%eth0", ""},
		{":1", ""},
		{"1:", ""},
		{":::", ""},
		{"1:::2", ""},
		{"1::2::3", ""},
		{"1:2:3:4:5:6:7", ""},
		{"1:2:3:4:5:6:7:8:9", ""},
		{"1:2:3:4::5:6:7:8", ""},
		{"12345::", ""},
		{"1.2.3.4::", ""},
		{"1:2:3:4:5:6:7:1.2.3.4", ""},
		{strings.Repeat("1", 1<<15), ""},
		{strings.Repeat(":", 1<<15), ""},
	}
	for _, tt := range tests {
		addr, ok := parseHop([]byte(tt.in))
		got := ""
		if ok {
			got = addr.String()
		}
		if got != tt.want {
			t.Errorf("parseHop(%.60q): got %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzParseHop holds the parser against the one of net/netip.
func FuzzParseHop(f *testing.F) {
	for _, seed := range []string{
		"203.0.113.7", "203.0.113.7:443", "[2001:db8::1]:1", "2001:db8::1", "::ffff:1.2.3.4", "1::2::3",
		"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::", ":::", "unknown", "[::1", "fe80::1%eth0", "1.2.3.04",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, ok := parseHop(in)
		want, wantOK := reference(string(in))
		if ok != wantOK || ok && got != want {
			t.Errorf("parseHop(%q): got %v, %v, want %v, %v", in, got, ok, want, wantOK)
		}
	})
}

// reference reads a hop with the parsers of the standard library.
func reference(in string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(in); err == nil {
		return addr.Unmap(), addr.Zone() == ""
	}
	host := in
	if i := strings.LastIndexByte(in, ':'); i >= 0 && (strings.IndexByte(in, ':') == i || in[i-1] == ']') {
		port := in[i+1:]
		host = in[:i]
		if port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
			return netip.Addr{}, false
		}
	}
	bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if bracketed {
		host = host[1 : len(host)-1]
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" || addr.Is6() != bracketed {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}
