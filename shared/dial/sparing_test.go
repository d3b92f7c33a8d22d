package dial

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pair is a connection of a sparing dialer and its other end.
func pair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() //nolint:errcheck // has done its work
	var d net.Dialer
	if near, err = Sparing(d.DialContext)(t.Context(), "tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// looks says whether somebody who looks at the connection gets to.
func looks(t *testing.T, c net.Conn) (looked bool) {
	t.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Read(func(uintptr) bool { looked = true; return true }); err != nil {
		t.Fatalf("look: %v", err)
	}
	return looked
}

func TestOnlyAConnectionThatHasRestedIsLookedAt(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	if !looks(t, near) {
		t.Error("a new connection: was not looked at")
	}
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c := near.(*sparing) //nolint:forcetypeassert // as it was made
	c.used = time.Now().Add(time.Hour)
	if looks(t, near) {
		t.Error("a connection just used: was looked at")
	}
	// Rested, and with a deadline that has struck meanwhile.
	c.used = time.Now().Add(-2 * rested)
	c.reading.armed = time.Unix(1, 0)
	if err := c.Conn.SetReadDeadline(c.reading.armed); err != nil {
		t.Fatal(err)
	}
	if !looks(t, near) {
		t.Error("a connection that has rested: was not looked at")
	}
}

// An echo of more than a socket's memory takes several system calls and waits on both sides, one of a byte none.
func TestWhatIsAskedIsAnswered(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	var echo sync.WaitGroup
	echo.Go(func() {
		if _, err := io.Copy(far, far); err != nil {
			t.Errorf("echo: %v", err)
		}
		if err := far.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	random := rand.NewChaCha8([32]byte{})
	for _, size := range []int{1, 1, 100, 16 << 20, 1} {
		question, got := make([]byte, size), make([]byte, size)
		_, _ = random.Read(question)
		var write sync.WaitGroup
		write.Go(func() {
			if n, err := near.Write(question); n != size || err != nil {
				t.Errorf("Write: got %d, %v, want %d", n, err, size)
			}
		})
		if size == 1 {
			write.Wait() // as a driver does: nothing is read before
		}
		if _, err := io.ReadFull(near, got); err != nil || !bytes.Equal(got, question) {
			t.Fatalf("answer to %d bytes: got error %v, or other bytes", size, err)
		}
		write.Wait()
	}
	if err := near.(*sparing).Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := near.Read(make([]byte, 1)); n != 0 || err != io.EOF { //nolint:errorlint // a bare io.EOF, as io.Reader has it
		t.Errorf("Read at the end: got %d, %v, want io.EOF", n, err)
	}
	echo.Wait()
	if _, err := near.Read(nil); err != nil {
		t.Errorf("Read into nothing: got error %v", err)
	}
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read of a closed connection: got error %v, want net.ErrClosed", err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Write to a closed connection: got error %v, want net.ErrClosed", err)
	}
}

func TestOnlyTheAnswerToAQuestionIsWatchedFor(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	w := near.(*sparing).watch //nolint:forcetypeassert // as it was made
	if _, err := near.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	if err := near.SetReadDeadline(time.Now().Add(slack)); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("Read: got error %v, want os.ErrDeadlineExceeded", err)
	}
	next := w.next.Load()
	if got := w.missed.Load(); got != 1 || next == 0 {
		t.Errorf("after a question without an answer: missed %d, next at %d, want 1 and some time", got, next)
	}
	if err := near.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	w.next.Store(0)
	if _, err := far.Write([]byte("!!")); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if w.next.Load() != 0 {
		t.Error("what came without a question: was watched for")
	}
	if _, err := near.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(make([]byte, 1)); err != nil { // is there already
		t.Fatal(err)
	}
	if got := w.missed.Load(); got != 0 || w.next.Load() == 0 {
		t.Errorf("after an answer: missed %d, next at %d, want none and some time", got, w.next.Load())
	}
}

func TestADeadlineStrikesLateAtMost(t *testing.T) {
	t.Parallel()
	near, _ := pair(t)
	for _, set := range []func(time.Time) error{near.SetReadDeadline, near.SetDeadline} {
		wanted := time.Now().Add(2 * slack)
		if err := set(wanted); err != nil {
			t.Fatal(err)
		}
		_, err := near.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("Read: got error %v, want os.ErrDeadlineExceeded", err)
		}
		if early := time.Until(wanted); early > 0 {
			t.Errorf("the deadline struck %v early", early)
		}
	}
}

func TestADeadlineIsArmedWhereTheOneThatIsWouldNotDo(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	var d deadline
	for _, tc := range []struct {
		name   string
		wanted time.Time
		want   time.Time // as it is armed
		sets   bool
	}{
		{"none at first", time.Time{}, time.Time{}, false},
		{"the first", at, at.Add(slack), true},
		{"a little later", at.Add(slack), at.Add(slack), false},
		{"the first again", at, at.Add(slack), false},
		{"beyond what is armed", at.Add(slack + 1), at.Add(2*slack + 1), true},
		{"much earlier", at, at.Add(slack), true},
		{"none", time.Time{}, time.Time{}, true},
		{"still none", time.Time{}, time.Time{}, false},
	} {
		sets := false
		d.wanted = tc.wanted
		if err := d.arm(func(time.Time) error { sets = true; return nil }); err != nil {
			t.Fatal(err)
		}
		if sets != tc.sets || !d.armed.Equal(tc.want) {
			t.Errorf("%s: armed %v, set %v; want %v, %v", tc.name, d.armed, sets, tc.want, tc.sets)
		}
	}
}

func TestWhatIsNoSocketIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	want, other := net.Pipe()
	defer other.Close() //nolint:errcheck // of a test
	got, err := Sparing(func(context.Context, string, string) (net.Conn, error) { return want, nil })(t.Context(), "", "")
	if err != nil || got != want {
		t.Errorf("got %v, %v, want the connection itself", got, err)
	}
	failed := errors.New("no way")
	if _, err := Sparing(func(context.Context, string, string) (net.Conn, error) { return nil, failed })(t.Context(), "", ""); !errors.Is(err, failed) {
		t.Errorf("got error %v, want %v", err, failed)
	}
	_ = want.Close()
}
