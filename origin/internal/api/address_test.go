package api

import (
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

func TestAddressOfTheClient(t *testing.T) {
	t.Parallel()
	a := &API{proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"peer", "192.0.2.1:5", nil, "192.0.2.1"},
		{"spoofed by an untrusted peer", "192.0.2.1:5", []string{"198.51.100.1"}, "192.0.2.1"},
		{"behind a proxy", "10.0.0.1:5", []string{"198.51.100.1"}, "198.51.100.1"},
		{"spoofed behind a proxy", "10.0.0.1:5", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		{"behind two proxies", "10.0.0.1:5", []string{"198.51.100.1", "10.9.9.9"}, "198.51.100.1"},
		{"only proxies", "10.0.0.1:5", []string{"10.0.0.2"}, "10.0.0.2"},
		{"nonsense", "10.0.0.1:5", []string{"198.51.100.1, x"}, "10.0.0.1"},
		{"IPv4 in IPv6", "[::ffff:192.0.2.1]:5", nil, "192.0.2.1"},
		{"IPv6 proxy", "[2001:db8::1]:5", []string{"2001:db9::1"}, "2001:db9::1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.forwarded
		if got := a.address(r); got != netip.MustParseAddr(c.want) {
			t.Errorf("%s: address = %v, want %s", c.name, got, c.want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "@"
	if got := a.address(r); got.IsValid() {
		t.Errorf("address of a peer without one = %v", got)
	}
}

func TestThrottle(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	th := newThrottle(2, 3, 4, func() time.Time { return now })
	addr := netip.MustParseAddr
	for i := range 3 {
		if _, ok := th.take(addr("192.0.2.1")); !ok {
			t.Fatalf("call %d of a burst of 3 was limited", i+1)
		}
	}
	if wait, ok := th.take(addr("192.0.2.1")); ok || wait != 500*time.Millisecond {
		t.Errorf("call after the burst = %v, %v, want to wait 500 ms", wait, ok)
	}
	if _, ok := th.take(addr("192.0.2.2")); !ok {
		t.Error("another address was limited")
	}
	now = now.Add(500 * time.Millisecond)
	if _, ok := th.take(addr("192.0.2.1")); !ok {
		t.Error("limited although a call was refilled")
	}
	for range 3 {
		th.take(addr("2001:db8::1"))
	}
	if _, ok := th.take(addr("2001:db8::ffff:1")); ok {
		t.Error("another address of the same /64 was not limited")
	}
	if _, ok := th.take(netip.Addr{}); !ok {
		t.Error("a peer without address was limited at once")
	}
}

func TestThrottleTableIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	const most = 10
	th := newThrottle(1, 1, most, func() time.Time { return now })
	for i := range 1000 {
		now = now.Add(10 * time.Millisecond)
		th.take(netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}))
		if len(th.buckets) > most {
			t.Fatalf("%d buckets, want at most %d", len(th.buckets), most)
		}
	}
}
