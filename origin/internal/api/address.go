package api

import (
	"net/http"
	"net/netip"
	"strings"
)

// address is who sent the request: the peer, or, if that is a trusted proxy,
// the last address of X-Forwarded-For that is none. What stands further left
// was written by the client itself. The zero Addr is a peer without address.
func (a *API) address(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap().WithZone("")
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && a.trusted(addr); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		addr = next.Unmap().WithZone("")
	}
	return addr
}

func (a *API) trusted(addr netip.Addr) bool {
	for _, p := range a.proxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
