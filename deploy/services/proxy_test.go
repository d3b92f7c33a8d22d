package services

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// warmClient returns a client with both its connections made: go-redis keeps one pool for commands and another one
// for pipelines.
func warmClient(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 1, PipelinePoolSize: 1, MaxRetries: -1, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Ping(within(t)).Err(); err != nil {
		t.Fatalf("ping through the proxy: %v", err)
	}
	_, err := client.Pipelined(within(t), func(pipe redis.Pipeliner) error { return pipe.Ping(within(t)).Err() })
	if err != nil {
		t.Fatalf("pipeline through the proxy: %v", err)
	}
	return client
}

func TestProxyCountsRoundTrips(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, Redis(t).Addr())
	client := warmClient(t, p.Addr())
	tests := []struct {
		name string
		do   func(ctx context.Context) error
		want int64
	}{
		{"nothing", func(context.Context) error { return nil }, 0},
		{"one command", func(ctx context.Context) error { return client.Ping(ctx).Err() }, 1},
		{"two commands", func(ctx context.Context) error {
			client.Ping(ctx)
			return client.Ping(ctx).Err()
		}, 2},
		{"a pipeline of three", func(ctx context.Context) error {
			_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
				for range 3 {
					pipe.Ping(ctx)
				}
				return nil
			})
			return err
		}, 1},
	}
	for _, tt := range tests {
		trips, sent, received := p.RoundTrips(), p.BytesSent(), p.BytesReceived()
		if err := tt.do(within(t)); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := p.RoundTrips() - trips; got != tt.want {
			t.Errorf("%s: %d round trips, want %d", tt.name, got, tt.want)
		}
		if moved := p.BytesSent() > sent && p.BytesReceived() > received; moved != (tt.want > 0) {
			t.Errorf("%s: bytes moved = %t, want %t", tt.name, moved, tt.want > 0)
		}
	}
	if got := p.Connections(); got != 2 {
		t.Errorf("%d connections, want 2", got)
	}
}

func TestProxyDelaysOpenConnections(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, Redis(t).Addr())
	client := warmClient(t, p.Addr())
	const each = 50 * time.Millisecond
	p.Delay(each)
	start := time.Now()
	if err := client.Ping(within(t)).Err(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 2*each {
		t.Errorf("a round trip took %s, want at least %s", took, 2*each)
	}
}

func TestProxyCutEndsConnectionsUntilHealed(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, Redis(t).Addr())
	client := warmClient(t, p.Addr())
	p.Cut()
	for i := range 3 {
		if err := client.Ping(within(t)).Err(); err == nil {
			t.Errorf("ping %d through a cut proxy was answered", i)
		}
	}
	p.Heal()
	eventually(t, "a ping after healing", func() bool { return client.Ping(within(t)).Err() == nil })
}

func TestProxyHoldsAChunkByDelayJitterAndRate(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, "127.0.0.1:1")
	if got := p.held(1000); got != 0 {
		t.Errorf("at first: got %s, want 0", got)
	}
	p.Delay(time.Second)
	p.Slow(2000)
	if got, want := p.held(1000), 1500*time.Millisecond; got != want {
		t.Errorf("with a delay and a rate: got %s, want %s", got, want)
	}
	p.Delay(0)
	p.Slow(0)
	p.Jitter(time.Second)
	first, differ := p.held(1), false
	for range 100 {
		got := p.held(1)
		if got < 0 || got >= time.Second {
			t.Fatalf("with jitter: got %s, want at least 0 and less than 1s", got)
		}
		differ = differ || got != first
	}
	if !differ {
		t.Errorf("with jitter: 101 times %s", first)
	}
}

func TestProxyResetsConnectionsAndLetsNewOnesThrough(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, Redis(t).Addr())
	var dialer net.Dialer
	conn, err := dialer.DialContext(within(t), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it is reset
	ping := func(conn net.Conn) error {
		answer := make([]byte, len("+PONG\r\n"))
		_, err := io.WriteString(conn, "PING\r\n")
		if err == nil {
			_, err = io.ReadFull(conn, answer)
		}
		return err
	}
	if err := ping(conn); err != nil {
		t.Fatal(err)
	}
	p.Reset()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read after Reset: got %v, want %v", err, syscall.ECONNRESET)
	}
	again, err := dialer.DialContext(within(t), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // only asked
	if err := ping(again); err != nil {
		t.Errorf("ping by a new connection: %v", err)
	}
}
