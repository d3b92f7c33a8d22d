package publish

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// room stands in for what an Inbox hands messages to.
type room struct {
	answer func(p *feed.Probe) (*feed.Heads, error)

	mu     sync.Mutex
	acks   []*feed.Ack
	probes int
}

func (r *room) Answer(_ context.Context, p *feed.Probe) (*feed.Heads, error) {
	r.mu.Lock()
	r.probes++
	r.mu.Unlock()
	return r.answer(p)
}

func (r *room) Ack(a *feed.Ack) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acks = append(r.acks, a)
}

func (r *room) acked() []*feed.Ack {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*feed.Ack(nil), r.acks...)
}

func (r *room) probed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.probes
}

// echo answers with heads that tell the probe's epoch.
func echo(p *feed.Probe) (*feed.Heads, error) { return &feed.Heads{Epoch: p.Epoch, Now: 17}, nil }

func newInbox(nc *nats.Conn, origin string, r *room, log io.Writer) *Inbox {
	return NewInbox(nc, "wp", origin, Rooms{Probes: r, Acks: r, Shared: r}, slog.New(slog.NewTextHandler(log, nil)))
}

// listen runs an Inbox on a connection of its own until the test's end.
func listen(t *testing.T, n *services.NATSServer, origin string, r *room) *Inbox {
	t.Helper()
	nc := connect(t, n.URL(), func(error) {})
	in := newInbox(nc, origin, r, t.Output())
	runInbox(t, in)
	eventually(t, "subscribed", func() bool { return nc.NumSubscriptions() == 3 && nc.Flush() == nil })
	return in
}

func runInbox(t *testing.T, in *Inbox) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- in.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func probeOf(id string, epoch uint64) []byte {
	p := feed.Probe{Member: feed.Member{ID: id, Boot: "b"}, Epoch: epoch}
	return p.Append(nil)
}

// ask sends a probe as an edge does and returns the answer's bytes.
func ask(t *testing.T, nc *nats.Conn, body []byte) []byte {
	t.Helper()
	msg, err := nc.Request("wp.probe", body, time.Minute)
	if err != nil {
		t.Fatalf("probe: %v", err)
	}
	return msg.Data
}

func TestAProbeIsAnsweredWithHeads(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	listen(t, n, "o1", &room{answer: echo})
	edge := connect(t, n.URL(), func(error) {})
	for epoch := uint64(1); epoch < 10; epoch++ {
		got, err := feed.ParseHeads(ask(t, edge, probeOf("eu", epoch)))
		if err != nil || got.Epoch != epoch || got.Now != 17 {
			t.Errorf("heads = %+v, %v, want epoch %d", got, err, epoch)
		}
	}
}

func TestAProbeThatGetsNoHeadsIsToldSo(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	var log bytes.Buffer
	var mu sync.Mutex
	nc := connect(t, n.URL(), func(error) {})
	r := &room{answer: func(p *feed.Probe) (*feed.Heads, error) {
		if p.Epoch == 1 {
			return nil, fmt.Errorf("roster: %w", link.ErrUnavailable)
		}
		return nil, io.ErrNoProgress
	}}
	in := newInbox(nc, "o1", r, writer(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(b)
	}))
	runInbox(t, in)
	eventually(t, "subscribed", func() bool { return nc.NumSubscriptions() == 3 && nc.Flush() == nil })
	edge := connect(t, n.URL(), func(error) {})
	for _, body := range [][]byte{probeOf("eu", 1), probeOf("eu", 2), []byte("hello"), nil} {
		if got := ask(t, edge, body); len(got) != 0 {
			t.Errorf("answer to %q = %q, want an empty one", body, got)
		}
	}
	if got, want := in.Stats(), (InboxStats{Damaged: 2}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	mu.Lock()
	defer mu.Unlock()
	if lines := bytes.Count(log.Bytes(), []byte("\n")); lines != 1 {
		t.Errorf("%d lines in the log, want one of the fault:\n%s", lines, log.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func TestOriginsShareTheProbes(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	one, two := &room{answer: echo}, &room{answer: echo}
	listen(t, n, "o1", one)
	listen(t, n, "o2", two)
	edge := connect(t, n.URL(), func(error) {})
	const probes = 100
	for range probes {
		ask(t, edge, probeOf("eu", 1))
	}
	if one.probed()+two.probed() != probes || one.probed() == 0 || two.probed() == 0 {
		t.Errorf("probes: %d and %d, want %d in all, some at either", one.probed(), two.probed(), probes)
	}
}

// Nothing is dropped where nobody listens, and where somebody does the reply
// subject leads to the origin that published.
func TestAnAcknowledgementReachesTheOriginThatPublished(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	one, two := &room{}, &room{}
	in := listen(t, n, "o1", one)
	listen(t, n, "o2", two)
	p := New(connect(t, n.URL(), func(error) {}), "wp", "o1")
	run(t, p)
	p.Publish([]*feed.Change{change(3, 1, "nobody hears it")})
	eventually(t, "published", func() bool { return p.Stats().Published == 1 })

	changes := subscribe(t, n, feed.SubjectAll("wp"))
	edge := connect(t, n.URL(), func(error) {})
	var want []*feed.Ack
	for seq := uint64(2); seq < 50; seq++ {
		p.Publish([]*feed.Change{change(3, seq, "value")})
		msg := next(t, changes)
		got, err := feed.ParseChange(msg.Data)
		if err != nil || got.Seq != seq {
			t.Fatalf("change %d: %+v, %v", seq, got, err)
		}
		ack := &feed.Ack{Member: feed.Member{ID: "eu", Boot: "b"}, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: seq}}}
		if err := edge.Publish(msg.Reply, ack.Append(nil)); err != nil {
			t.Fatal(err)
		}
		want = append(want, ack)
	}
	eventually(t, "all are acknowledged", func() bool { return len(one.acked()) == len(want) })
	if got := one.acked(); !reflect.DeepEqual(got, want) {
		t.Errorf("acknowledged %v, want %v", got, want)
	}
	if got := two.acked(); len(got) != 0 {
		t.Errorf("the other origin got %d acknowledgements, want none", len(got))
	}
	if got := in.Stats(); got != (InboxStats{}) {
		t.Errorf("Stats = %+v, want none damaged", got)
	}
}

func TestTooManyProbesAreTurnedAwayAndThoseInHandFinish(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	began, hold := make(chan struct{}), make(chan struct{})
	r := &room{answer: func(p *feed.Probe) (*feed.Heads, error) {
		began <- struct{}{}
		<-hold
		return echo(p)
	}}
	nc := connect(t, n.URL(), func(error) {})
	in := newInbox(nc, "o1", r, t.Output())
	in.slots = make(chan struct{}, 3)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- in.Run(ctx) }()
	eventually(t, "subscribed", func() bool { return nc.NumSubscriptions() == 3 && nc.Flush() == nil })

	edge := connect(t, n.URL(), func(error) {})
	var held sync.WaitGroup
	for i := range 3 {
		held.Go(func() {
			msg, err := edge.Request("wp.probe", probeOf(strconv.Itoa(i), 1), time.Minute)
			if err != nil {
				t.Errorf("probe in hand: %v", err)
				return
			}
			if _, err := feed.ParseHeads(msg.Data); err != nil {
				t.Errorf("probe in hand: %v", err)
			}
		})
		<-began
	}
	if got := ask(t, edge, probeOf("eu", 1)); len(got) != 0 {
		t.Errorf("answer = %q, want an empty one", got)
	}
	if got, want := in.Stats(), (InboxStats{Crowded: 1}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	cancel()
	eventually(t, "unsubscribed", func() bool { return nc.NumSubscriptions() == 0 })
	select {
	case err := <-ended:
		t.Errorf("Run returned %v with probes in hand", err)
	default:
	}
	close(hold)
	held.Wait()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestProbesGoOnAfterARestartOfTheServer(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	n.Kill()
	nc := connect(t, n.URL(), func(error) {})
	in := newInbox(nc, "o1", &room{answer: echo}, t.Output())
	runInbox(t, in) // before there is a server
	for range 2 {
		if err := n.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		edge := connect(t, n.URL(), func(error) {})
		eventually(t, "a probe is answered", func() bool {
			msg, err := edge.Request("wp.probe", probeOf("eu", 1), time.Second)
			return err == nil && len(msg.Data) > 0
		})
		n.Kill()
	}
}
