package httpd

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/edge/internal/visitor"
	"waypost/shared/click"
	"waypost/shared/feed"
)

// TestAStopAmongConnectionsOfAllKindsLosesNothing lets clients come, ask, break off
// and not read their answers while the server stops. Every answer that arrives was
// counted, every click was answered once, and no goroutine is left.
func TestAStopAmongConnectionsOfAllKindsLosesNothing(t *testing.T) {
	t.Parallel()
	s, l := crowded(t)
	began := time.Now()
	s.Clock = func() (feed.Instant, int64) { return feed.Instant(time.Since(began)) + 1, now }
	s.Describe = func(*visitor.Request, *click.Record) {}
	s.Client = func(peer netip.Addr, _ [][]byte) netip.Addr { return peer }
	var admitted, served atomic.Int64
	s.Served = func(e *feed.Entry, _ feed.Instant) {
		if e.Clicks {
			served.Add(1)
		}
	}
	s.Admit = func(context.Context, netip.Addr) (int, bool) { return 3, admitted.Add(1)%50 > 0 }
	a := s.answer(t, true)
	texts := []string{
		"GET /abc" + asked, "GET /abc" + asked, "GET /abc" + asked + "GET /query?a" + asked + "GET /abc" + asked,
		"GET /absent" + asked, "GET /abc" + asked + "GET /absent" + asked + "GET /abc" + asked,
		"GET /abc" + asked + "GET /ab",
		"POST /abc HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var arrived atomic.Int64
	var clients sync.WaitGroup
	for n := range uint64(40) {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(n, 1))
			for ctx.Err() == nil {
				conn, err := net.Dial("tcp", a.addr)
				if err != nil {
					return // it has stopped
				}
				arrived.Add(roam(conn.(*net.TCPConn), random, texts)) //nolint:forcetypeassert // of TCP
			}
		})
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	<-timer.C
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	cancel()
	clients.Wait()
	counted := int64(len(l.clicks) - len(l.canceled))
	if got := arrived.Load(); got == 0 || got > counted {
		t.Errorf("%d redirects arrived, %d clicks were counted", got, counted)
	}
	if got := served.Load(); got != counted {
		t.Errorf("%d redirects were made, %d clicks were counted", got, counted)
	}
}

// roam sends some texts on a connection and ends it in one of several ways. It
// returns how many redirects arrived.
func roam(conn *net.TCPConn, random *rand.Rand, texts []string) int64 {
	defer conn.Close() //nolint:errcheck // may have been reset
	reads := random.IntN(5) > 0
	var all bytes.Buffer
	ended := make(chan struct{})
	if reads {
		go func() {
			defer close(ended)
			_, _ = io.Copy(&all, conn)
		}()
	} else {
		close(ended)
		_ = conn.SetReadBuffer(1 << 10)
	}
	for range 1 + random.IntN(60) {
		text := texts[random.IntN(len(texts)-2)]
		switch {
		case random.IntN(30) == 0:
			text = texts[random.IntN(len(texts))]
		case !reads:
			text = string(bytes.Repeat([]byte(text), 200))
			_ = conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		}
		if _, err := io.WriteString(conn, text); err != nil {
			break
		}
	}
	switch random.IntN(3) {
	case 0:
		_ = conn.SetLinger(0)
		_ = conn.Close()
	case 1:
		_ = conn.CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	default:
		_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	}
	<-ended
	return int64(bytes.Count(all.Bytes(), []byte("HTTP/1.1 302 ")))
}
