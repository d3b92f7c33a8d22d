package httpd

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// settings notes what is set of a connection.
type settings struct{ set []time.Time }

func (s *settings) note(t time.Time) error {
	s.set = append(s.set, t)
	return nil
}

func TestDeadlineNeverStrikesEarlyNorLaterThanItsSlack(t *testing.T) {
	t.Parallel()
	start := time.Now()
	after := func(d time.Duration) time.Time { return start.Add(d) }
	var s settings
	var d deadline
	for i, c := range []struct {
		wanted time.Time
		sets   int // so far
	}{
		{time.Time{}, 0}, // none is set, none is wanted
		{after(10 * time.Second), 1},
		{after(10*time.Second + 400*time.Millisecond), 1},
		{after(11 * time.Second), 1},
		{after(11*time.Second + time.Millisecond), 2}, // would strike too early
		{after(75 * time.Second), 3},
		{after(10 * time.Second), 4}, // would strike much too late
		{time.Time{}, 5},
		{time.Time{}, 5},
	} {
		d.wanted = c.wanted
		if err := d.arm(s.note); err != nil || len(s.set) != c.sets {
			t.Fatalf("step %d: set %d times, %v, want %d", i, len(s.set), err, c.sets)
		}
		if c.sets == 0 {
			continue
		}
		is := s.set[len(s.set)-1]
		if late := is.Sub(c.wanted); is.IsZero() != c.wanted.IsZero() || !is.IsZero() && (late < 0 || late > deadlineSlack) {
			t.Errorf("step %d: strikes %v after the wanted time, want 0 to %v", i, late, deadlineSlack)
		}
	}
}

func TestAPassedDeadlineEndsReadsAndWrites(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close() //nolint:errcheck // a pipe
	c := &headConn{Conn: here}
	defer c.Close() //nolint:errcheck // a pipe
	if err := c.SetDeadline(time.Now().Add(-2 * deadlineSlack)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read: got %v, want %v", err, os.ErrDeadlineExceeded)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write: got %v, want %v", err, os.ErrDeadlineExceeded)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go there.Write([]byte("GET")) //nolint:errcheck // what is read tells
	if n, err := c.Read(make([]byte, 3)); n != 3 || err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("Read without a deadline: got %d bytes, %v", n, err)
	}
}
