package link

import (
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// parseAuthority returns an authority with its host in ASCII, everything else
// as given, and the host alone as host names are compared: lower case, no
// trailing dot, an IPv6 address in its brackets.
func parseAuthority(authority string) (stored, host string, err error) {
	switch {
	case strings.Contains(authority, "@"):
		return "", "", reasonError("must not have a user or password")
	case strings.Contains(authority, `\`):
		return "", "", reasonError("must not have a backslash before its path")
	}
	host, port := splitPort(authority)
	if host == "" {
		return "", "", reasonError("has no host")
	}
	if fault := portFault(port); fault != "" {
		return "", "", reasonError(fault)
	}
	if host[0] == '[' {
		if !isIPv6(host) {
			return "", "", reasonError("has a host that is not an IPv6 address")
		}
	} else if host, err = hostName(host); err != nil {
		return "", "", err
	}
	return host + port, strings.ToLower(strings.TrimSuffix(host, ".")), nil
}

// splitPort cuts an authority without user before the ":" of its port.
func splitPort(authority string) (host, port string) {
	i := strings.LastIndexByte(authority, ':')
	if i < 0 || i < strings.LastIndexByte(authority, ']') {
		return authority, ""
	}
	return authority[:i], authority[i:]
}

// effectivePort is the port of a stored authority as ":" and a number without
// leading zeros: its own, or the scheme's default.
func effectivePort(scheme, authority string) string {
	_, port := splitPort(authority)
	if digits := strings.TrimLeft(strings.TrimPrefix(port, ":"), "0"); digits != "" {
		return ":" + digits
	}
	if strings.EqualFold(scheme, "https") {
		return ":443"
	}
	return ":80"
}

// portFault says what is wrong with a port and its ":". RFC 3986 lets the port
// be empty, and lets it have leading zeros.
func portFault(port string) string {
	n := 0
	for i := 1; i < len(port); i++ {
		c := port[i]
		if c < '0' || c > '9' {
			return "has a port that is not a number"
		}
		if n = n*10 + int(c-'0'); n > 65535 {
			return "has a port above 65535"
		}
	}
	return ""
}

// isIPv6 reports whether host is an IPv6 address in brackets. A zone has no
// meaning on another machine, so there must be none.
func isIPv6(host string) bool {
	if !strings.HasSuffix(host, "]") {
		return false
	}
	addr, err := netip.ParseAddr(host[1 : len(host)-1])
	return err == nil && addr.Is6() && addr.Zone() == ""
}

// hostName returns a host name as given if it is ASCII, else mapped to ASCII by
// UTS 46.
func hostName(name string) (string, error) {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		var err error
		if name, err = mapHost(name); err != nil {
			return "", err
		}
	}
	// Judged after the mapping, which turns some characters into "/", "@" or
	// "%".
	if fault := hostFault(name); fault != "" {
		return "", reasonError(fault)
	}
	return name, nil
}

// mapHost maps a host name to ASCII by UTS 46 as browsers do: not
// transitional, hyphens unrestricted, joiners and bidirectional text checked.
// hostFault restricts the ASCII characters, so that one rule holds for every
// host.
func mapHost(name string) (string, error) {
	if len(name) > MaxDomain*utf8.UTFMax {
		return "", reasonError(hostTooLong)
	}
	profile := idna.New(
		idna.MapForLookup(),
		idna.Transitional(false),
		idna.BidiRule(),
		idna.CheckHyphens(false),
		idna.StrictDomainName(false),
	)
	ascii, err := profile.ToASCII(name)
	if err != nil {
		return "", reasonError("has a host name that UTS 46 refuses")
	}
	return ascii, nil
}

const hostTooLong = "has a host name of more than 253 bytes"

// hostFault says what is wrong with an ASCII host name: labels have 1 to 63
// letters, digits, "-" and "_"; one trailing dot may follow.
func hostFault(name string) string {
	name = strings.TrimSuffix(name, ".")
	switch {
	case name == "":
		return "has no host"
	case len(name) > MaxDomain:
		return hostTooLong
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return "has a host name with an empty label"
		case len(label) > 63:
			return "has a host name with a label of more than 63 bytes"
		case slices.ContainsFunc([]byte(label), func(c byte) bool { return octets[c]&inHost == 0 }):
			return "has a host name with a character that may not stand in one"
		}
	}
	return ""
}
