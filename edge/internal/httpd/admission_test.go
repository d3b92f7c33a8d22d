package httpd

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

func TestAPanicOfTheLimiterDeniesNobody(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(liveBody())
	var n atomic.Int64
	s.Admit = func(context.Context, netip.Addr) (int, bool) {
		if n.Add(1) == 2 {
			panic("admit")
		}
		return 0, true
	}
	a := s.answer(t, true)
	if got := a.exchanged(t, "GET /abc"+asked, "GET /abc"+asked); strings.Count(got, "HTTP/1.1 302 ") != 2 {
		t.Errorf("got %s", got)
	}
}

func TestWhatTheLimiterSaidIsForNoLaterRequest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(liveBody())
	var n atomic.Int64
	s.Client = func(peer netip.Addr, _ [][]byte) netip.Addr {
		if n.Add(1) == 3 { // the second request, when it comes through fasthttp
			panic("client")
		}
		return peer
	}
	a := s.answer(t, true)
	got := a.exchanged(t, "GET /absent"+asked, "GET /absent"+asked, "HEAD /abc"+asked)
	if !strings.Contains(got, "HTTP/1.1 500 ") || !strings.Contains(got, "HTTP/1.1 302 ") {
		t.Errorf("got %s", got)
	}
	if got := a.asks.Load(); got != 3 {
		t.Errorf("three requests asked %d times", got)
	}
}
