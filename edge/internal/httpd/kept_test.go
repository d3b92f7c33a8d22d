package httpd

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// sockets are the two ends of a TCP connection, the first of them as a server
// reads it after a request.
func sockets(t *testing.T) (here *headConn, there *net.TCPConn) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() //nolint:errcheck // has done its work
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := onePerRead{Listener: ln}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	here, there = server.(*headConn), client.(*net.TCPConn) //nolint:forcetypeassert // of TCP
	t.Cleanup(func() {
		_ = here.Close()
		_ = there.Close()
	})
	if got := exchange(t, here, there, "GET /0 HTTP/1.1\r\n\r\n"); got != "GET /0 HTTP/1.1\r\n\r\n" {
		t.Fatalf("first request: got %q", got)
	}
	return here, there
}

// exchange sends a text and reads as many bytes.
func exchange(t *testing.T, here io.Reader, there io.Writer, text string) string {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(there, text)
		sent <- err
	}()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(here, got); err != nil {
		t.Fatalf("read: %v", err)
	}
	if err := <-sent; err != nil {
		t.Fatalf("write: %v", err)
	}
	return string(got)
}

func TestAKeptConnectionHandsOutAllThatComes(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	for _, text := range []string{
		"GET /1 HTTP/1.1\r\n\r\n",
		"GET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n\r\n",
		string(bytes.Repeat([]byte("x"), 1<<20)), // fills what a read has room for, many times
		"y",
	} {
		if got := exchange(t, here, there, text); got != text {
			t.Errorf("got %.40q of %d bytes, want %.40q", got, len(got), text)
		}
	}
	if here.kept.next == nil {
		t.Fatal("the connection was read the usual way")
	}
}

func TestAReadThatIsFilledLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	exchange(t, here, there, "GET /1 HTTP/1.1\r\n\r\n")
	if _, err := io.WriteString(there, "abcdef"); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for buf := make([]byte, 2); len(got) < 6; { // all six are there, and no more will be told of
		n, err := here.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buf[:n]...)
	}
	if string(got) != "abcdef" {
		t.Errorf("got %q", got)
	}
}

func TestAnEndThatComesWithARequestIsFound(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	if err := here.SetReadDeadline(time.Now().Add(idleTimeout)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 1<<10) // never filled, so that nothing more is expected after a read
	for _, request := range []string{"GET /1 HTTP/1.1\r\n\r\n", "GET /2 HTTP/1.1\r\n\r\n"} {
		if _, err := io.WriteString(there, request); err != nil {
			t.Fatal(err)
		}
		if request[5] == '2' {
			if err := there.CloseWrite(); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := here.Read(got); err != nil || string(got[:n]) != request {
			t.Fatalf("got %q, %v", got[:n], err)
		}
	}
	if n, err := here.Read(got); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v, want the end", n, err)
	}
}

func TestAKeptConnectionGoesOnAfterAnotherLook(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	exchange(t, here, there, "GET /1 HTTP/1.1\r\n\r\n")
	later := time.AfterFunc(lookAgain+2*deadlineSlack, func() { _, _ = io.WriteString(there, "GET /2 HTTP/1.1\r\n\r\n") })
	defer later.Stop()
	got := make([]byte, len("GET /2 HTTP/1.1\r\n\r\n"))
	if _, err := io.ReadFull(here, got); err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	if got := exchange(t, here, there, "GET /3 HTTP/1.1\r\n\r\n"); got != "GET /3 HTTP/1.1\r\n\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestAReadOfNothingDoesNotWait(t *testing.T) {
	t.Parallel()
	here, there := sockets(t)
	exchange(t, here, there, "GET /1 HTTP/1.1\r\n\r\n")
	if n, err := here.Read(nil); n != 0 || err != nil {
		t.Errorf("got %d bytes, %v, want none", n, err)
	}
}

func TestAKeptConnectionEndsAsAnyOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(here *headConn, there *net.TCPConn) error
		want error
	}{
		"by its client":   {func(_ *headConn, there *net.TCPConn) error { return there.CloseWrite() }, io.EOF},
		"by its deadline": {func(here *headConn, _ *net.TCPConn) error { return here.SetDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"by its server":   {func(here *headConn, _ *net.TCPConn) error { return here.Close() }, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := sockets(t)
			exchange(t, here, there, "GET /1 HTTP/1.1\r\n\r\n")
			if err := c.end(here, there); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if n, err := here.Read(make([]byte, 8)); n != 0 || !errors.Is(err, c.want) {
					t.Errorf("got %d bytes, %v, want %v", n, err, c.want)
				}
			}
		})
	}
}

func TestAConnectionMayBeClosedWhileItIsRead(t *testing.T) {
	t.Parallel()
	for range 200 {
		here, there := sockets(t)
		exchange(t, here, there, "GET /1 HTTP/1.1\r\n\r\n")
		var both sync.WaitGroup
		both.Go(func() {
			for {
				if _, err := here.Read(make([]byte, 8)); err != nil {
					return
				}
			}
		})
		both.Go(func() { _, _ = io.WriteString(there, "GET /2") })
		both.Go(func() { _ = here.Close() })
		both.Wait() // and TestMain finds a coroutine that was left
	}
}
