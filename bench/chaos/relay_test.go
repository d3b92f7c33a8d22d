package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/bench/fleet"
	"waypost/deploy/services"
	"waypost/shared/feed"
)

// patience is far more than a message takes.
const patience = 10 * time.Second

// relay runs one, and gives a connection to its server.
func relay(t *testing.T) (*Relay, *nats.Conn) {
	t.Helper()
	url := services.NATS(t).URL()
	r, err := NewRelay(url, "far", "near", rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		cancel()
		<-ended
	})
	return r, conn
}

func subscribe(t *testing.T, conn *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	sub, err := conn.SubscribeSync(subject)
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func TestRelayCarriesChangesTheirAcknowledgementsAndProbes(t *testing.T) {
	t.Parallel()
	_, conn := relay(t)
	changes := subscribe(t, conn, feed.SubjectAll("far"))
	acks := subscribe(t, conn, feed.SubjectAck("near", "o1"))
	if err := conn.PublishRequest(feed.Subject("near", 7), feed.SubjectAck("near", "o1"), []byte("change")); err != nil {
		t.Fatal(err)
	}
	change, err := changes.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := change.Subject, feed.Subject("far", 7); got != want || string(change.Data) != "change" {
		t.Errorf("change: got %q on %s, want it on %s", change.Data, got, want)
	}
	if err := change.Respond([]byte("ack")); err != nil {
		t.Fatal(err)
	}
	if ack, err := acks.NextMsg(patience); err != nil || string(ack.Data) != "ack" {
		t.Errorf("acknowledgement: %v, %v", ack, err)
	}

	probes := subscribe(t, conn, feed.SubjectProbe("near"))
	asked := make(chan error, 1)
	go func() {
		probe, err := probes.NextMsg(patience)
		if err == nil {
			err = probe.Respond([]byte("heads"))
		}
		asked <- err
	}()
	heads, err := conn.Request(feed.SubjectProbe("far"), []byte("probe"), patience)
	if err != nil || string(heads.Data) != "heads" {
		t.Errorf("probe: %v, %v", heads, err)
	}
	if err := <-asked; err != nil {
		t.Error(err)
	}
}

func TestRelayDropsRepeatsAndReorders(t *testing.T) {
	t.Parallel()
	r, conn := relay(t)
	r.Hurt(0.2)
	changes := subscribe(t, conn, feed.SubjectAll("far"))
	const sent = 500
	for i := range sent {
		if err := conn.Publish(feed.Subject("near", 7), []byte{byte(i), byte(i >> 8)}); err != nil {
			t.Fatal(err)
		}
	}
	fleet.Await(t, "the relay has decided about every message", func() error {
		if c := r.Carried(); c.Passed+c.Dropped+c.Repeated+c.Reordered != sent {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	c := r.Carried()
	seen := make(map[int]bool)
	last, backwards := -1, 0
	for range sent - c.Dropped + c.Repeated {
		m, err := changes.NextMsg(patience)
		if err != nil {
			t.Fatalf("%v, after %d messages of %+v", err, len(seen), c)
		}
		i := int(m.Data[0]) | int(m.Data[1])<<8
		if i < last {
			backwards++
		}
		last, seen[i] = i, true
	}
	if len(seen) != sent-c.Dropped {
		t.Errorf("got %d messages, want all of %d but %d", len(seen), sent, c.Dropped)
	}
	if c.Dropped == 0 || c.Repeated == 0 || c.Reordered == 0 || backwards == 0 {
		t.Errorf("got %+v, %d of them backwards; want some of each", c, backwards)
	}
}
