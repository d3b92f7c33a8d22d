package positions

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// echo is a server that sends back all it gets.
func echo(t *testing.T) (addr string) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	runs(t, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { _ = l.Close() })()
		for {
			conn, err := l.Accept()
			if err != nil {
				return nil
			}
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A proxy that sleeps over each chunk would hold the last of twenty chunks for twenty times its delay.
func TestALineHoldsEveryChunkForItsDelayAndNotForThatOfTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const d, gap, chunks = 100 * time.Millisecond, 2 * time.Millisecond, 20
		line := &Line{}
		line.Delay(d)
		near, in := net.Pipe()
		out, far := net.Pipe()
		onWay := make(chan chunk, maxOnWay)
		go line.send(t.Context(), in, onWay)
		go arrive(t.Context(), out, onWay)
		start := time.Now()
		go func() {
			for i := range chunks {
				_, _ = near.Write([]byte{byte(i)})
				time.Sleep(gap)
			}
			_ = near.Close()
		}()
		for i := range chunks {
			var b [1]byte
			if _, err := far.Read(b[:]); err != nil {
				t.Fatal(err)
			}
			if got, want := time.Since(start), d+time.Duration(i)*gap; b[0] != byte(i) || got != want {
				t.Errorf("got byte %d after %s, want %d after %s", b[0], got, i, want)
			}
		}
	})
}

func TestALineCarriesMoreThanItHoldsAtOnce(t *testing.T) {
	t.Parallel()
	line := newLine(t)
	line.To(echo(t))
	conn := dial(t, line.Addr())
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	runs(t, func(context.Context) error {
		_, err := conn.Write(sent)
		return err
	})
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("error %v, or other bytes than were sent", err)
	}
}

func TestALineThatLeadsNowhereEndsItsConnections(t *testing.T) {
	t.Parallel()
	line := newLine(t)
	conn := dial(t, line.Addr())
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("got %d bytes, error %v, want the end", n, err)
	}
}
