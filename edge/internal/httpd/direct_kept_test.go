package httpd

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestAnAnswerThatIsOnItsWayWhenTheServerStopsGoesOut(t *testing.T) {
	t.Parallel()
	for _, before := range []int{1, 3} {
		s, l := counting(t)
		s.put(liveBody())
		reached, release := make(chan struct{}), make(chan struct{})
		s.Served = func(*feed.Entry, feed.Instant) {
			l.mu.Lock()
			n := len(l.clicks)
			l.mu.Unlock()
			if n == before+1 {
				close(reached)
				<-release
			}
		}
		a := s.answer(t, true)
		conn := a.dial(t)
		answers := bufio.NewReader(conn)
		for i := range before + 1 {
			if _, err := io.WriteString(conn, "GET /abc"+asked); err != nil {
				t.Fatal(err)
			}
			if i == before {
				<-reached
				stopped := make(chan error, 1)
				go func() { stopped <- a.stop() }()
				select {
				case err := <-stopped:
					t.Errorf("the server stopped with an answer on its way: %v", err)
				case <-time.After(300 * time.Millisecond): // it closes what looks idle by then
				}
				close(release)
				defer func() {
					if err := <-stopped; err != nil {
						t.Error(err)
					}
				}()
			}
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("after %d answers: %v", i, err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestALeavingServersAnswersCloseConnections(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(liveBody())
	a := s.answer(t, true)
	for _, leaving := range []bool{false, true} {
		h := newHandler(a.config(), t.Context(), func() bool { return leaving })
		if done, plain := h.direct(&headConn{Conn: sink{}, asked: true}, []byte("GET /abc"+asked)); (done > 0) == leaving || plain == leaving {
			t.Errorf("leaving %v: answered %d bytes, plain %v", leaving, done, plain)
		}
	}
}

func TestTheEndOfAnIdleConnectionIsNoRequestThatDidNotCome(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	here.direct = true
	if err := here.SetReadDeadline(time.Now().Add(-2 * deadlineSlack)); err != nil {
		t.Fatal(err)
	}
	if n, err := here.Read(make([]byte, 9)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v, want EOF", n, err)
	}
	_ = there
}

func TestPipelinedHitsAndMissesAreAnsweredInOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, code := range []string{"a", "b", "c", "d"} {
		body := liveBody()
		body.Target = "https://example.com/" + code
		key := link.Key{Code: code}
		s.entries[key] = &feed.Entry{Epoch: 1, AsOf: 1, Version: 1, Key: key, Body: body}
	}
	a := s.answer(t, true)
	conn := a.dial(t)
	var all strings.Builder
	want := []string{"a", "b", "", "c", "", "", "d", "a"}
	for range 3 {
		for _, code := range want {
			if code == "" {
				code = "absent"
			}
			all.WriteString("GET /" + code + asked)
		}
	}
	if _, err := io.WriteString(conn, all.String()); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	for i := range 3 * len(want) {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		code := want[i%len(want)]
		if got := resp.Header.Get("Location"); code == "" && resp.StatusCode != 404 || code != "" && got != "https://example.com/"+code {
			t.Errorf("answer %d: got %d, %q, want that of %q", i, resp.StatusCode, got, code)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Error(err)
		}
	}
	if got := a.resolved.Load(); got != 10 {
		t.Errorf("%d requests went through fasthttp, want the first and the 9 misses", got)
	}
}

func TestHitsAreAnsweredDirectlyAgainOnceFasthttpHasReadAPlainOne(t *testing.T) {
	t.Parallel()
	hit := "GET /abc" + asked
	for name, c := range map[string]struct {
		odd     string
		through int64 // requests of links that go through fasthttp: the first, the odd one, and one more
	}{
		"after HEAD":           {"HEAD /abc" + asked, 3},
		"after a body":         {"GET /abc HTTP/1.1\r\nHost: short.example\r\nContent-Length: 1\r\n\r\nx", 3},
		"after a folded line":  {"GET /abc HTTP/1.1\r\nHost: short.example\r\nA: b\r\n c\r\n\r\n", 3},
		"after an odd target":  {"GET http://short.example/abc" + asked, 2}, // which is plain but for that
		"after an empty chunk": {"GET /abc HTTP/1.1\r\nHost: short.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.put(liveBody())
			a := s.answer(t, true)
			got := a.exchanged(t, hit, hit, c.odd, hit, hit, hit)
			if n := strings.Count(got, "HTTP/1.1 302 "); n != 6 {
				t.Fatalf("got %d redirects:\n%s", n, got)
			}
			if got := a.resolved.Load(); got != c.through {
				t.Errorf("%d requests went through fasthttp, want %d", got, c.through)
			}
		})
	}
	t.Run("after one in parts", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.put(liveBody())
		h := newHandler((&answering{stage: s}).config(), t.Context(), func() bool { return false })
		conn := &script{}
		for _, piece := range []string{hit, hit[:20], hit[20:], hit} {
			conn.pieces = append(conn.pieces, []byte(piece))
		}
		c := &headConn{Conn: takes{conn, sink{}}, handler: h}
		buf := make([]byte, 1<<10)
		for _, want := range []string{hit, hit[:20], hit[20:]} {
			if n, err := c.Read(buf); err != nil || string(buf[:n]) != want {
				t.Fatalf("got %q, %v, want %q", buf[:n], err, want)
			}
		}
		var ctx fasthttp.RequestCtx
		ctx.Init2(c, nil, false)
		if err := ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(hit))); err != nil {
			t.Fatal(err)
		}
		h.serve(&ctx)
		if n, err := c.Read(buf); n != 0 || !errors.Is(err, io.EOF) || !c.direct {
			t.Errorf("got %q, %v, want the hit answered and then the end", buf[:n], err)
		}
	})
}

// takes is a connection that reads from one and writes to another.
type takes struct {
	*script
	to sink
}

func (c takes) Write(p []byte) (int, error)      { return c.to.Write(p) }
func (c takes) SetWriteDeadline(time.Time) error { return nil }
func (c takes) SetReadDeadline(time.Time) error  { return nil }
func (c takes) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }
func (c takes) LocalAddr() net.Addr              { return c.RemoteAddr() }
