package link

import (
	"crypto/sha256"
	"iter"
	"net/netip"
	"strconv"
	"strings"
)

// TargetHost returns the host that a stored target leads to, in the form in
// which hosts are compared: lower case, without port and trailing dot, and every
// spelling of an address as one, since browsers go to 127.0.0.1 for
// "http://2130706433/" and "http://0x7f.1/" too. IPv6 stands in brackets. It is
// "" for a target without authority.
func TargetHost(stored string) string {
	_, rest, _ := strings.Cut(stored, ":")
	authority, _, _ := cutAuthority(rest)
	host, _ := splitPort(authority)
	return comparedHost(host)
}

// ParseHost returns a host as TargetHost does: a name, which may be in Unicode,
// or an address. The error's text is the reason of a refusal.
func ParseHost(s string) (string, error) {
	if fault := textFault(s); fault != "" {
		return "", reasonError(fault)
	}
	if addr, err := netip.ParseAddr(s); err == nil && addr.Is6() {
		s = "[" + s + "]"
	}
	switch {
	case strings.HasPrefix(s, "[") && isIPv6(s):
	case strings.ContainsAny(s, ":[]/@"):
		return "", reasonError("must be a host name or an address alone, without scheme, port or path")
	default:
		var err error
		if s, err = hostName(s); err != nil {
			return "", err
		}
	}
	return comparedHost(s), nil
}

// comparedHost is the form of a host that TargetHost tells of.
func comparedHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		switch {
		case err != nil:
			return host
		case addr.Is4In6():
			return addr.Unmap().String()
		}
		return "[" + addr.String() + "]"
	}
	if addr, ok := parseIPv4(host); ok {
		return addr.String()
	}
	return host
}

// parseIPv4 reads an IPv4 address as the URL standard's IPv4 parser does: up to
// four numbers, of which the last stands for all bytes that are left.
func parseIPv4(host string) (addr netip.Addr, ok bool) {
	if host == "" || host[0] < '0' || host[0] > '9' { // as most hosts are
		return addr, false
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return addr, false
	}
	var ip uint32
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := parseIPv4Number(part, bits)
		if err != nil {
			return addr, false
		}
		ip = ip<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}), true
}

// parseIPv4Number reads a number of at most so many bits: hexadecimal after
// "0x", which may stand alone for 0, octal after "0", else decimal.
func parseIPv4Number(s string, bits int) (uint32, error) {
	base := 10
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		base, s = 16, "0"+digits
	} else if len(s) > 1 && s[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(s, base, bits)
	return uint32(n), err //nolint:gosec // at most 32 bits
}

// IsAddress reports whether a host, as TargetHost returns it, is an address and
// no name.
func IsAddress(host string) bool {
	if strings.HasPrefix(host, "[") {
		return true
	}
	_, ok := parseIPv4(host)
	return ok
}

// Site stands for a host: the first half of its SHA-256. A shorter or simpler
// hash would let somebody make a host that stands for another one, and get that
// blocked with it.
type Site [sha256.Size / 2]byte

func siteOf(host string) Site {
	var text [MaxDomain]byte // hosts are no longer; it spares an allocation
	sum := sha256.Sum256(append(text[:0], host...))
	return Site(sum[:len(Site{})])
}

// Sites yields the sites of a host, as TargetHost returns it, and of every
// domain above it, the host's own first; an address has none above it. Hosts are
// looked up by them, so that whoever has to do that need not know the host.
func Sites(host string) iter.Seq[Site] {
	return func(yield func(Site) bool) {
		alone := host == "" || IsAddress(host)
		for more := yield(siteOf(host)); more && !alone; {
			var above bool
			if _, host, above = strings.Cut(host, "."); !above {
				return
			}
			more = yield(siteOf(host))
		}
	}
}
