package httpd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"waypost/shared/feed"
)

func TestAConnectionStaysOpenAfterADirectAnswer(t *testing.T) {
	t.Parallel()
	for _, before := range []int{2, 3} { // the first answer is fasthttp's
		s := newStage(t)
		s.put(liveBody())
		a := s.answer(t, true)
		conn := a.dial(t)
		answers := bufio.NewReader(conn)
		for i := range before + 1 {
			if i == before {
				<-time.After(lookAgain + 2*deadlineSlack)
			}
			if _, err := io.WriteString(conn, "GET /abc"+asked); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("after %d answers: %v", i, err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := a.resolved.Load(); got != 1 {
			t.Errorf("%d requests went through fasthttp, want the first", got)
		}
	}
}

func TestAnEndThatComesWithADirectHitIsFound(t *testing.T) {
	t.Parallel()
	for _, first := range []int{1, 2} { // the second is answered before the connection is read as a kept one
		s := newStage(t)
		s.put(liveBody())
		a := s.answer(t, true)
		conn := a.dial(t)
		answers := bufio.NewReader(conn)
		for i, text := range []string{strings.Repeat("GET /abc"+asked, first), "GET /abc" + asked} {
			if _, err := io.WriteString(conn, text); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil { //nolint:forcetypeassert // of TCP
					t.Fatal(err)
				}
			}
			for range strings.Count(text, "GET") {
				resp, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := resp.Body.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		if n, err := io.Copy(io.Discard, answers); n > 0 || err != nil { // within the deadline of dial
			t.Errorf("got %d bytes, %v, want the end", n, err)
		}
	}
}

func TestAnAnswerThatTheSocketDoesNotTakeAtOnceGoesOutWhole(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	exchange(t, here, there, "GET /1 HTTP/1.1\r\n\r\n") // read as a kept connection from here on
	answer := make([]byte, 16<<20)                      // more than is between the two
	for i := range answer {
		answer[i] = byte(i / 251)
	}
	written := make(chan error, 1)
	go func() {
		here.send(answer, 1)
		written <- here.broken
	}()
	got := make([]byte, len(answer))
	n, err := io.ReadFull(there, got)
	if err := errors.Join(err, <-written); err != nil || !bytes.Equal(got[:n], answer) {
		t.Errorf("got %d bytes, %v, want the %d that were sent", n, err, len(answer))
	}
}

func TestAnAnswerThatNobodyTakesIsBroken(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	exchange(t, here, there, "GET /1 HTTP/1.1\r\n\r\n")
	if err := there.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	for here.broken == nil { // until the reset has come
		here.send(make([]byte, 1<<20), 1)
	}
	if n, err := here.Read(make([]byte, 9)); n != 0 || err == nil {
		t.Errorf("got %d bytes, %v, want an error", n, err)
	}
}

func TestAServerThatIsToldToLeaveEndsAConnectionAtItsNextAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put(liveBody())
	a := &answering{stage: s}
	var answers atomic.Int64
	cfg := a.config()
	cfg.Served = func(*feed.Entry, feed.Instant) { answers.Add(1) }
	h := newHandler(cfg, t.Context(), func() bool { return answers.Load() > 0 })
	head := "GET /abc" + asked
	if done, plain := h.direct(&headConn{Conn: sink{}, asked: true}, []byte(strings.Repeat(head, 3))); done != len(head) || plain {
		t.Errorf("answered %d bytes, plain %v; want %d, of the head before it was told", done, plain, len(head))
	}
}

func TestTheMiddleOfAHeadIsNone(t *testing.T) {
	t.Parallel()
	s, l := counting(t)
	s.put(liveBody())
	a := &answering{stage: s}
	const first = "GET /absent HTTP/1.1\r\nX: "
	conn := &script{Conn: sink{}, pieces: [][]byte{[]byte("GET /abc" + asked + "GET /absent" + asked + first + "GET /abc" + asked)}}
	c := &headConn{Conn: conn, handler: newHandler(a.config(), t.Context(), func() bool { return false })}
	sizes := []int{1 << 10, 1 << 10, len(first)}
	var got []string
	for _, size := range append(sizes, 1<<10) {
		p := make([]byte, size)
		n, err := c.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(p[:n]))
	}
	if want := []string{"GET /abc" + asked, "GET /absent" + asked, first, "GET /abc" + asked}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(l.clicks) > 0 {
		t.Errorf("the end of a head was answered: got %d clicks", len(l.clicks))
	}
}
