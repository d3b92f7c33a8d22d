package fill

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"sync/atomic"
	"testing"

	"waypost/shared/feed"
)

var member = feed.Member{ID: "edge", Boot: "boot"}

// posted is the body of a POST with the secret to a path.
func posted(t *testing.T, r *http.Request, path string) []byte {
	t.Helper()
	if r.Method != http.MethodPost || r.URL.Path != path || r.Header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("got %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return b
}

func TestProbeSaysWhereTheEdgeStands(t *testing.T) {
	t.Parallel()
	want := feed.Probe{Member: member, Epoch: 4, Leaving: true}
	want.Applied[3] = 77
	heads := feed.Heads{Epoch: 4, Bound: 1_000_000, Salts: []feed.Salt{{Day: 20_000, Key: [feed.SaltSize]byte{1}}}}
	heads.Seq[3] = 78
	c := origins(t, func(w http.ResponseWriter, r *http.Request) {
		if p, err := feed.ParseProbe(posted(t, r, "/v1/probe")); err != nil || *p != want {
			t.Errorf("got %+v, %v, want %+v", p, err, want)
		}
		_, _ = w.Write(heads.Append(nil))
	})
	if got, err := c.Probe(t.Context(), &want); err != nil || !reflect.DeepEqual(got, &heads) {
		t.Errorf("got %+v, %v, want %+v", got, err, heads)
	}
}

func TestAProbeIsAnsweredByTheNextOrigin(t *testing.T) {
	t.Parallel()
	heads := feed.Heads{Epoch: 4}
	c := origins(t,
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		answer(heads.Append(nil)))
	if got, err := c.Probe(t.Context(), &feed.Probe{Member: member}); err != nil || got.Epoch != 4 {
		t.Errorf("got %v, %v, want heads of epoch 4", got, err)
	}
}

func TestAProbeWithoutHeadsIsAFault(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"nothing": answer(nil),
		"garbage": answer([]byte("<html>")),
		"204":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	} {
		c := origins(t, h)
		if got, err := c.Probe(t.Context(), &feed.Probe{Member: member}); got != nil || !errors.Is(err, feed.ErrFormat) {
			t.Errorf("%s: got %v, %v, want ErrFormat", name, got, err)
		}
	}
}

func TestAKeptConnectionThatWasClosedCostsNoProbe(t *testing.T) {
	t.Parallel()
	heads := feed.Heads{Epoch: 4}
	var calls atomic.Int64
	c := origins(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1)%2 == 0 { // the origin goes away just as the request arrives
			panic(http.ErrAbortHandler)
		}
		_ = posted(t, r, "/v1/probe")
		_, _ = w.Write(heads.Append(nil))
	})
	for range 4 {
		if _, err := c.Probe(t.Context(), &feed.Probe{Member: member}); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAckGoesToEveryOrigin(t *testing.T) {
	t.Parallel()
	want := feed.Ack{Member: member, Epoch: 4, Positions: []feed.Position{{Shard: 3, Seq: 77}}}
	var took atomic.Int64
	take := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if b := posted(t, r, "/v1/ack"); !bytes.Equal(b, want.Append(nil)) {
				t.Errorf("got %x", b)
			}
			took.Add(1)
			w.WriteHeader(status)
		}
	}
	c := origins(t, take(http.StatusNoContent), take(http.StatusOK), take(http.StatusNoContent))
	if err := c.Ack(t.Context(), &want); err != nil || took.Load() != 3 {
		t.Errorf("got %v, %d origins, want 3", err, took.Load())
	}
	c = origins(t, take(http.StatusInternalServerError), take(http.StatusNoContent))
	if err := c.Ack(t.Context(), &want); !errors.Is(err, errStatus) || took.Load() != 5 {
		t.Errorf("got %v, %d origins, want the first one's fault and 5", err, took.Load())
	}
}

func TestASilentOriginHoldsUpNoOthersAck(t *testing.T) {
	t.Parallel()
	release, heard := make(chan struct{}), make(chan struct{})
	c := origins(t, func(http.ResponseWriter, *http.Request) { <-release },
		func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			close(heard)
		})
	done := make(chan error, 1)
	go func() { done <- c.Ack(t.Context(), &feed.Ack{Member: member}) }()
	<-heard // while the first one is silent
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
