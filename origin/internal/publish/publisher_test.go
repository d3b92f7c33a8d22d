package publish

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/deploy/services"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func change(shard int, seq uint64, value string) *feed.Change {
	return &feed.Change{
		Epoch: 1, Shard: shard, Seq: seq, Kind: feed.Changed, At: 1_700_000_000_000_000,
		Key: link.Key{Domain: "go.example", Code: "k" + strconv.FormatUint(seq, 10)}, Value: value,
	}
}

// subscribe listens as an edge does, on a connection of its own.
func subscribe(t *testing.T, n *services.NATSServer, subject string) *nats.Subscription {
	t.Helper()
	nc := connect(t, n.URL(), func(error) {})
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return sub
}

func next(t *testing.T, sub *nats.Subscription) *nats.Msg {
	t.Helper()
	msg, err := sub.NextMsg(time.Minute)
	if err != nil {
		t.Fatalf("next message: %v", err)
	}
	return msg
}

func TestChangesArriveOnTheirShardsSubjectInTheOrderGiven(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	sub := subscribe(t, n, feed.SubjectAll("wp"))
	p := New(connect(t, n.URL(), func(error) {}), "wp", "o1")
	run(t, p)

	given := []*feed.Change{change(0, 1, "a"), nil, change(63, 7, "b"), change(feed.ConfigShard, 2, `{"x":1}`)}
	p.Publish(given[:3])
	p.Publish(given[3:])
	var expect []*feed.Change
	for seq := uint64(2); seq <= 500; seq++ {
		expect = append(expect, change(0, seq, strings.Repeat("v", int(seq))))
	}
	p.Publish(expect)
	expect = append([]*feed.Change{given[0], given[2], given[3]}, expect...)

	for i, want := range expect {
		msg := next(t, sub)
		if subject := "wp.feed." + strconv.Itoa(want.Shard); msg.Subject != subject {
			t.Fatalf("message %d: subject %s, want %s", i, msg.Subject, subject)
		}
		got, err := feed.ParseChange(msg.Data)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if *got != *want {
			t.Fatalf("message %d = %+v, want %+v", i, *got, *want)
		}
	}
	if got, want := p.Stats(), (Stats{Published: uint64(len(expect))}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

func TestPublishDropsAndNeverWaitsWithoutAServer(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	n.Kill()
	p := New(connect(t, n.URL(), func(error) {}), "wp", "o1")
	run(t, p)
	const changes = 5 * queueLength
	for seq := uint64(1); seq <= changes; seq++ {
		p.Publish([]*feed.Change{change(3, seq, "value")})
	}
	eventually(t, "all are dropped", func() bool { return p.Stats() == Stats{Dropped: changes} })
}

// A stalled server stops reading: the sockets' buffers fill, then each write
// blocks until it times out.
func TestPublishNeverWaitsForAStalledServer(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	p := New(connect(t, n.URL(), func(error) {}), "wp", "o1")
	run(t, p)
	n.Pause()
	t.Cleanup(n.Resume)
	value := strings.Repeat("v", 16<<10)
	seq := uint64(0)
	eventually(t, "changes are dropped", func() bool {
		for range queueLength / 8 {
			seq++
			p.Publish([]*feed.Change{change(3, seq, value)})
		}
		return p.Stats().Dropped > 0
	})
}

func TestPublishingGoesOnAfterARestartOfTheServer(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	var seen states
	p := New(connect(t, n.URL(), seen.add), "wp", "o1")
	run(t, p)
	eventually(t, "connected", func() bool { return len(seen.all()) == 1 })
	n.Kill()
	eventually(t, "loss is told", func() bool { return len(seen.all()) == 2 })
	p.Publish([]*feed.Change{change(3, 1, "while away")})
	eventually(t, "the change is dropped", func() bool { return p.Stats() == Stats{Dropped: 1} })

	if err := n.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	sub := subscribe(t, n, feed.SubjectAll("wp"))
	eventually(t, "reconnected", func() bool { return len(seen.all()) == 3 })
	p.Publish([]*feed.Change{change(3, 2, "back")})
	got, err := feed.ParseChange(next(t, sub).Data)
	if err != nil {
		t.Fatal(err)
	}
	if got.Seq != 2 {
		t.Errorf("first change after the restart has position %d, want 2: what was published while away is not kept", got.Seq)
	}
	errs := seen.all()
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("states = %v, want nil, an error, nil", errs)
	}
}

func TestRunSendsWhatIsLeftWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	sub := subscribe(t, n, feed.Subject("wp", 3))
	nc := connect(t, n.URL(), func(error) {})
	p := New(nc, "wp", "o1")
	const changes = 500
	for seq := uint64(1); seq <= changes; seq++ {
		p.Publish([]*feed.Change{change(3, seq, "value")})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
	nc.Close()
	for seq := uint64(1); seq <= changes; seq++ {
		got, err := feed.ParseChange(next(t, sub).Data)
		if err != nil || got.Seq != seq {
			t.Fatalf("change %d: got %+v, %v", seq, got, err)
		}
	}
}

func TestRunEndsWithoutAServer(t *testing.T) {
	t.Parallel()
	n := services.NATS(t)
	n.Kill()
	p := New(connect(t, n.URL(), func(error) {}), "wp", "o1")
	p.Publish([]*feed.Change{change(3, 1, "value")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
	if got, want := p.Stats(), (Stats{Dropped: 1}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}
