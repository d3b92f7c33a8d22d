package publish

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/deploy/services"
)

func TestAServerThatComesLateIsFound(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	n.Kill()
	var seen states
	nc := connect(t, n.URL(), seen.add)
	eventually(t, "absence is told", func() bool { return len(seen.all()) == 1 })
	if err := n.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "connected", nc.IsConnected)
	eventually(t, "presence is told", func() bool { return len(seen.all()) == 2 })
	if errs := seen.all(); errs[0] == nil || errs[1] != nil {
		t.Errorf("states = %v, want an error, nil", errs)
	}
}

func TestWrongCredentialsAreToldOnceAndTriedForEver(t *testing.T) {
	t.Parallel()
	binary, err := services.BuildLocal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n, err := services.StartNATS(t.Context(), services.NATSConfig{Dir: t.TempDir(), Binary: binary, Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	var seen states
	var attempts atomic.Int64
	opts := append(Options("test", seen.add), nats.CustomReconnectDelay(func(int) time.Duration {
		attempts.Add(1)
		return time.Millisecond
	}))
	nc, err := nats.Connect(strings.Replace(n.URL(), "right", "wrong", 1), opts...)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(nc.Close)
	eventually(t, "five attempts", func() bool { return attempts.Load() >= 5 })
	if nc.IsClosed() {
		t.Error("the connection gave up")
	}
	errs := seen.all()
	if len(errs) != 1 || !errors.Is(errs[0], nats.ErrAuthorization) {
		t.Errorf("states = %v, want one nats.ErrAuthorization", errs)
	}
}

func TestAChangeOfStateIsToldOnce(t *testing.T) {
	t.Parallel()
	dial := errors.New("connection refused")
	for _, tc := range []struct {
		name   string
		events []error // nil: the connection came up
		want   []error
	}{
		{"comes up", []error{nil, nil}, []error{nil}},
		{"away from the start", []error{dial, dial, nil}, []error{dial, nil}},
		{"lost and back", []error{nil, io.EOF, dial, dial, nil}, []error{nil, io.EOF, nil}},
		{"refused after a loss", []error{nil, io.EOF, nats.ErrAuthorization, io.EOF, nats.ErrAuthorization, nil}, []error{nil, io.EOF, nats.ErrAuthorization, nil}},
		{"refused while connected", []error{nil, nats.ErrPermissionViolation, nats.ErrPermissionViolation}, []error{nil, nats.ErrPermissionViolation}},
	} {
		var seen states
		w := watch{tell: seen.add}
		for _, err := range tc.events {
			if err == nil {
				w.up()
			} else {
				w.down(err)
			}
		}
		if got := seen.all(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: told %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestALossWithoutAReasonIsStillAnError(t *testing.T) {
	t.Parallel()
	var seen states
	w := watch{tell: seen.add}
	w.down(nil)
	if got := seen.all(); len(got) != 1 || !errors.Is(got[0], nats.ErrDisconnected) {
		t.Errorf("told %v, want nats.ErrDisconnected", got)
	}
}
