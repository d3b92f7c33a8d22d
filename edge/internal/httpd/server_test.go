package httpd

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestAServerThatIsStoppedAsItStartsEnds(t *testing.T) {
	t.Parallel()
	for range 200 {
		ctx, stop := context.WithCancel(t.Context())
		server := New(ctx, newStage(t).Config, 0)
		if err := server.Listen(ctx, "127.0.0.1:0", nil); err != nil {
			t.Fatal(err)
		}
		stop()
		if err := server.Run(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAHeadThatNeverEndsDoesNotMakeAStopFail(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	cfg := newStage(t).Config
	cfg.MaxConns = 10
	server := New(ctx, cfg, 0)
	if err := server.Listen(ctx, "127.0.0.1:0", nil); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the server has closed it
	if _, err := io.WriteString(conn, "GET /abc HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	for tick := time.Tick(time.Millisecond); server.http.GetOpenConnectionsCount() == 0; {
		<-tick // what is not accepted when the listener closes is reset
	}
	stop() // at the latest moment: the head has all of its time before it
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
		t.Errorf("answered %q, %v, want 408", answer, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
