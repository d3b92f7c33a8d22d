package publish_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/deploy/services"
	"waypost/origin/internal/edges"
	"waypost/origin/internal/links"
	"waypost/origin/internal/postgres"
	"waypost/origin/internal/publish"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// origin is all of an origin that has to do with edges, on real services.
type origin struct {
	publisher *publish.Publisher
	tracker   *edges.Tracker
	barrier   *edges.Barrier
}

func newOrigin(t *testing.T, store *postgres.Store, n *services.NATSServer, name string) *origin {
	t.Helper()
	nc := dial(t, n)
	sharer := publish.NewSharer(nc, "wp")
	rosters, tracker := edges.NewRosters(store.Roster), edges.NewTracker(sharer)
	o := &origin{
		publisher: publish.New(nc, "wp", name), tracker: tracker,
		barrier: edges.NewBarrier(store, rosters, tracker, time.Second),
	}
	in := publish.NewInbox(nc, "wp", name, publish.Rooms{
		Probes: edges.NewProbes(store, rosters, tracker),
		Acks:   tracker.Acks(edges.ByNATS), Shared: tracker.Acks(edges.ByShare),
	}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	runs := []func(context.Context) error{in.Run, o.publisher.Run, sharer.Run}
	for _, run := range runs {
		go func() { ended <- run(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range runs {
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		}
	})
	until(t, "subscribed", func() bool { return nc.NumSubscriptions() == 3 && nc.Flush() == nil })
	return o
}

func dial(t *testing.T, n *services.NATSServer) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(n.URL(), publish.Options("test", func(error) {})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("did not happen in time: %s", what)
		}
	}
}

// write commits a change and waits for edges, as a write of a link does.
func (o *origin) write(t *testing.T, store *postgres.Store, code string) (*feed.Change, links.Receipt) {
	t.Helper()
	results, err := store.Write(t.Context(), []links.Mutation{{
		Key: link.Key{Code: code},
		Merge: func(*link.Link, time.Time) (*link.Link, error) {
			return &link.Link{Target: "https://example.com/", Status: 302, Enabled: true}, nil
		},
	}})
	if err != nil || results[0].Err != nil {
		t.Fatalf("Write: %v, %v", err, results)
	}
	c := results[0].Change
	committed := time.Now()
	o.publisher.Publish([]*feed.Change{c})
	return c, o.barrier.Wait(t.Context(), committed, []links.Position{{Epoch: c.Epoch, Shard: c.Shard, Seq: c.Seq}})
}

// edge is one that does as it is told.
type edge struct {
	t      *testing.T
	nc     *nats.Conn
	member feed.Member
}

func newEdge(t *testing.T, n *services.NATSServer, id string) *edge {
	t.Helper()
	return &edge{t: t, nc: dial(t, n), member: feed.Member{ID: id, Boot: "b"}}
}

func (e *edge) probe(p feed.Probe) *feed.Heads {
	e.t.Helper()
	p.Member = e.member
	msg, err := e.nc.Request(feed.SubjectProbe("wp"), p.Append(nil), 30*time.Second)
	if err != nil {
		e.t.Fatalf("probe: %v", err)
	}
	heads, err := feed.ParseHeads(msg.Data)
	if err != nil {
		e.t.Fatalf("probe of %s: %v", e.member.ID, err)
	}
	return heads
}

// follow acknowledges every change as soon as it comes, until the test's end.
func (e *edge) follow() {
	e.t.Helper()
	_, err := e.nc.Subscribe(feed.SubjectAll("wp"), func(msg *nats.Msg) {
		c, err := feed.ParseChange(msg.Data)
		if err != nil {
			e.t.Errorf("change: %v", err)
			return
		}
		ack := feed.Ack{Member: e.member, Epoch: c.Epoch, Positions: []feed.Position{{Shard: c.Shard, Seq: c.Seq}}}
		_ = msg.Respond(ack.Append(nil)) // fails only when the test has closed the connection
	})
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.nc.Flush(); err != nil {
		e.t.Fatal(err)
	}
}

func openStore(t *testing.T) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), postgres.Config{URL: services.Postgres(t), MaxConns: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestAWriteIsConfirmedByTheEdgesThatProbed(t *testing.T) {
	t.Parallel()
	store, n := openStore(t), services.NATS(t)
	one, two := newOrigin(t, store, n, "o1"), newOrigin(t, store, n, "o2")
	if _, r := one.write(t, store, "a"); r.Edges != 0 || r.Ack != links.AckEdges {
		t.Errorf("before any edge: receipt %+v", r)
	}
	eu, us := newEdge(t, n, "eu"), newEdge(t, n, "us")
	for _, e := range []*edge{eu, us} {
		e.follow()
		if heads := e.probe(feed.Probe{}); heads.Epoch != 1 || heads.Now == 0 || heads.Bound <= 0 {
			t.Errorf("heads = %+v", heads)
		}
	}
	for i, o := range []*origin{one, two, one} {
		if _, r := o.write(t, store, "b"+string(rune('0'+i))); r.Edges != 2 || r.Acked != 2 {
			t.Errorf("write %d: receipt %+v, want both edges", i, r)
		}
	}
	if one.tracker.Taken(edges.ByNATS) != 4 || two.tracker.Taken(edges.ByNATS) != 2 {
		t.Errorf("acknowledgements: %d and %d, want 4 and 2: each at the origin that wrote",
			one.tracker.Taken(edges.ByNATS), two.tracker.Taken(edges.ByNATS))
	}
}

func TestASilentEdgeJoinsAgainByItsNextProbe(t *testing.T) {
	t.Parallel()
	store, n := openStore(t), services.NATS(t)
	o := newOrigin(t, store, n, "o1")
	eu, silent := newEdge(t, n, "eu"), newEdge(t, n, "silent")
	eu.follow()
	eu.probe(feed.Probe{})
	silent.probe(feed.Probe{})
	start := time.Now()
	c, r := o.write(t, store, "a")
	if r.Edges != 2 || r.Acked != 1 {
		t.Errorf("receipt %+v, want one of two", r)
	}
	if took := time.Since(start); took < time.Second {
		t.Errorf("waited %v for a silent edge, want the bound", took)
	}
	left := func() (left bool) {
		roster, err := store.Roster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range roster.Edges {
			if e.Member == silent.member {
				return !e.LeftAt.IsZero()
			}
		}
		return true
	}
	if !left() {
		t.Error("the silent edge was not taken off")
	}
	if heads := silent.probe(feed.Probe{}); heads.Seq[c.Shard] != c.Seq || left() {
		t.Errorf("heads %+v, left %v, want the write in the heads of a member", heads, left())
	}
	silent.probe(feed.Probe{Leaving: true})
	if !left() {
		t.Error("the edge did not leave")
	}
}

func TestAnEdgeAheadBeginsAnEpochInPostgreSQL(t *testing.T) {
	t.Parallel()
	store, n := openStore(t), services.NATS(t)
	newOrigin(t, store, n, "o1")
	eu := newEdge(t, n, "eu")
	eu.probe(feed.Probe{})
	ahead := feed.Probe{Epoch: 1}
	ahead.Applied[7] = 1000
	if heads := eu.probe(ahead); heads.Epoch != 2 || heads.Seq[7] != 0 {
		t.Errorf("heads = %+v, want those of epoch 2", heads)
	}
}
