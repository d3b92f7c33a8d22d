package ops_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"waypost/shared/ops"
)

func TestHealthcheckFindsTheListenerByTheAddressItListensOn(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", ":0"} {
		server, _ := newServer(addr)
		run(t, server)
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(server.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if err := ops.Healthcheck(t.Context(), net.JoinHostPort(host, port)); err != nil {
			t.Errorf("Healthcheck of a server on %q: %v", addr, err)
		}
	}
}

func TestHealthcheckOfAnUnreadyServiceIsFine(t *testing.T) {
	t.Parallel()
	server, health := newServer("127.0.0.1:0")
	health.Part("config", true).Down("gone")
	health.Drain()
	run(t, server)
	if err := ops.Healthcheck(t.Context(), server.Addr()); err != nil {
		t.Errorf("Healthcheck = %v, want nil: the process is up", err)
	}
}

func TestHealthcheckReportsWhatIsWrong(t *testing.T) {
	t.Parallel()
	failing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(failing.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, addr := range map[string]string{
		"other status":     failing.Listener.Addr().String(),
		"nobody listening": closed.Listener.Addr().String(),
		"no port":          "127.0.0.1",
		"bad host":         "a b:1",
	} {
		if err := ops.Healthcheck(t.Context(), addr); err == nil {
			t.Errorf("Healthcheck with %s = nil, want an error", name)
		}
	}
}

func TestHealthcheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	t.Cleanup(hanging.Close)
	go func() {
		<-asked
		cancel()
	}()
	if err := ops.Healthcheck(ctx, hanging.Listener.Addr().String()); !errors.Is(err, context.Canceled) {
		t.Errorf("Healthcheck = %v, want context canceled", err)
	}
}
