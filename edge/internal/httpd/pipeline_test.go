package httpd

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"waypost/edge/internal/redirect"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// script is a connection that gives its pieces, one a Read.
type script struct {
	net.Conn
	pieces [][]byte
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

func TestAReadNeverGoesBeyondAHead(t *testing.T) {
	t.Parallel()
	const stream = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\n\r\n\r\n\r\nGET /\r\r\n \r\n\r\r\n\r\nGET /c\r\n\r\nthe start of another\r\n\r"
	ends := make(map[int]bool) // where a head ends, counted from the one before
	for at := 0; ; {
		i := strings.Index(stream[at:], headEnd)
		if i < 0 {
			break
		}
		at += i + len(headEnd)
		ends[at] = true
	}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		conn := &script{}
		for rest := []byte(stream); len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(1+round%60))
			conn.pieces = append(conn.pieces, rest[:n])
			rest = rest[n:]
		}
		c := &headConn{Conn: conn}
		var got []byte
		buf := make([]byte, 1+random.IntN(100))
		for {
			n, err := c.Read(buf)
			if err != nil {
				break
			}
			for at := len(got) + 1; at < len(got)+n; at++ {
				if ends[at] {
					t.Fatalf("round %d: a read goes beyond the head that ends at %d: %q", round, at, buf[:n])
				}
			}
			got = append(got, buf[:n]...)
		}
		if string(got) != stream {
			t.Fatalf("round %d: got %q, want %q", round, got, stream)
		}
	}
}

func TestAHitDoesNotWaitForTheFillBehindIt(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	server := New(ctx, Config{
		Region: "eu",
		Resolve: func(_ context.Context, domain string, code []byte, _ uint64) (redirect.Answer, error) {
			if string(code) == "slow" {
				<-release
			}
			return redirect.Answer{Entry: &feed.Entry{Key: link.Key{Domain: domain, Code: string(code)}, Body: feed.Body{
				State: feed.Enabled, Status: 302, Target: "https://example.com/" + string(code),
			}}}, nil
		},
		Mark:        func(redirect.Answer, feed.Instant) (redirect.Marking, time.Duration) { return redirect.Unmarked, 0 },
		Served:      func(*feed.Entry, feed.Instant) {},
		ConfigLease: func() feed.Instant { return 1 },
		Settings:    func() *feed.Config { return nil },
		Clock:       func() (feed.Instant, int64) { return 1, now },
		Told:        func() bool { return true },
		Client:      func(peer netip.Addr, _ [][]byte) netip.Addr { return peer },
		Admit:       func(context.Context, netip.Addr) (int, bool) { return 0, true },
		MaxConns:    100,
		Metrics:     NewMetrics(prometheus.NewRegistry()), Logger: slog.New(slog.DiscardHandler),
	}, 0)
	if err := server.Listen(ctx, "127.0.0.1:0", nil); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /hit HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	for _, code := range []string{"hit", "slow", "last"} {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Location"); got != "https://example.com/"+code {
			t.Errorf("got %q, want the answer for %s", got, code)
		}
		if code == "hit" {
			close(release) // read the hit's answer while the next one was stuck
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAPromisedBodyIsNoReasonToRefuseAGet(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for method, want := range map[string]int{"GET": 100, "HEAD": 100, "POST": 405} {
		var ctx fasthttp.RequestCtx
		ctx.Request.Header.SetMethod(method)
		ctx.Request.SetRequestURI("/abc")
		if got := s.expected(&ctx); got != want {
			t.Errorf("%s: got status %d, want %d", method, got, want)
		}
	}
}
