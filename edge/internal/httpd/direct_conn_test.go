package httpd

import (
	"bufio"
	"io"
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
