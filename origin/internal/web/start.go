package web

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// placeholder stands where the request does not say, in a form fit to be shown,
// under which address it was made.
const placeholder = "http://HOST:PORT"

// server is the address under which the page was asked for. It is shown to be
// pasted into a shell, so nothing of the request is believed that does not look
// like a host with or without a port.
func server(r *http.Request) string {
	if !isAuthority(r.Host) {
		return placeholder
	}
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// isAuthority reports whether s is a host name, an IPv4 address or an IPv6
// address in brackets, and perhaps a port.
func isAuthority(s string) bool {
	host := s
	if h, port, err := net.SplitHostPort(s); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
		host = strings.TrimSuffix(s, ":"+port)
		if strings.Contains(h, ":") != strings.HasPrefix(host, "[") {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && addr.Is6() && addr.Zone() == "" && strings.HasSuffix(inner, "]")
	}
	return isName(host)
}

// isName reports whether s is a host name of letters, digits and inner "-".
func isName(s string) bool {
	const longest, longestLabel = 253, 63
	if len(s) > longest {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		fit := len(label) > 0 && len(label) <= longestLabel && label[0] != '-' && label[len(label)-1] != '-'
		if !fit || strings.ContainsFunc(label, func(c rune) bool {
			return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-'
		}) {
			return false
		}
	}
	return true
}

// freshAlias is one that the first steps of no other reader have taken.
func freshAlias() string { return "hello-" + strings.ToLower(rand.Text()[:6]) }
