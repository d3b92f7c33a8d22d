package follow

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/deploy/services"
	"waypost/shared/feed"
)

// connect makes a connection as an edge's main does, closed at the test's end.
func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, Options("test", func(error) {})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closed := nc.StatusChanged(nats.CLOSED)
		nc.Close()
		<-closed
	})
	return nc
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("did not happen in time: %s", what)
		}
	}
}

// broadcaster is an origin on NATS beside a center.
type broadcaster struct {
	*center
	nc *nats.Conn

	mu   sync.Mutex
	acks []*feed.Ack
}

// broadcast answers probes as a member of the origins' queue group and notes
// acknowledgements.
func broadcast(t *testing.T, nc *nats.Conn, c *center) *broadcaster {
	t.Helper()
	b := &broadcaster{center: c, nc: nc}
	listen := func(subject string, take func(*nats.Msg)) {
		sub, err := nc.QueueSubscribe(subject, "origins", take)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sub.Unsubscribe() }) // the server may be gone
	}
	listen(feed.SubjectProbe("t"), func(m *nats.Msg) {
		p, err := feed.ParseProbe(m.Data)
		if err != nil {
			t.Error(err)
			return
		}
		if h, err := c.Probe(t.Context(), p); err == nil {
			_ = m.Respond(h.Append(nil)) // who asked asks again
		}
	})
	listen(feed.SubjectAck("t", "o1"), func(m *nats.Msg) {
		a, err := feed.ParseAck(m.Data)
		if err != nil {
			t.Error(err)
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.acks = append(b.acks, a)
	})
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *broadcaster) publish(t *testing.T, changes ...*feed.Change) {
	t.Helper()
	for _, c := range changes {
		if err := b.nc.PublishRequest(feed.Subject("t", c.Shard), feed.SubjectAck("t", "o1"), c.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
}

// acked is the highest position of a shard that the member acknowledged.
func (b *broadcaster) acked(m feed.Member, shard int) (seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.acks {
		for _, p := range a.Positions {
			if a.Member == m && p.Shard == shard {
				seq = max(seq, p.Seq)
			}
		}
	}
	return seq
}

func TestTwoEdgesFollowOverNATS(t *testing.T) {
	t.Parallel()
	server := services.NATS(t)
	c, web := newCenter(), newCenter()
	b := broadcast(t, connect(t, server.URL()), c)
	var edges [2]*edge
	for i := range edges {
		nc := connect(t, server.URL())
		edges[i] = newEdge(web, feed.NewTable(slots, 1), func(cfg *Config) { cfg.NATS, cfg.Lag = nc, nil })
		edges[i].run(t)
		defer edges[i].end(t)
	}
	for _, e := range edges {
		eventually(t, "leases over NATS", func() bool { return e.table.Lease(feed.ConfigShard) != 0 && e.table.Lease(0) != 0 })
	}
	b.publish(t, append(c.write(0, 3), c.write(8, 1)...)...)
	for _, e := range edges {
		eventually(t, "acknowledgements over NATS", func() bool {
			return b.acked(e.Member(), 0) == 8 && b.acked(e.Member(), 8) == 1
		})
	}
}

func TestADeadNATSIsPassedBy(t *testing.T) {
	t.Parallel()
	server := services.NATS(t)
	c := newCenter()
	b := broadcast(t, connect(t, server.URL()), c)
	nc := connect(t, server.URL())
	e := newEdge(c, feed.NewTable(slots, 1), func(cfg *Config) { cfg.NATS, cfg.Lag = nc, nil })
	e.run(t)
	defer e.end(t)
	renewed := func() bool {
		at := e.Instant()
		eventually(t, "a lease", func() bool { return e.table.Lease(0) > at && e.table.Lease(feed.ConfigShard) > at })
		return true
	}
	renewed()
	for name, stop := range map[string]func(){"paused": server.Pause, "killed": server.Kill} {
		stop()
		renewed()
		made := c.write(0, 2) // known by probes and fetched alone
		last := made[len(made)-1].Seq
		eventually(t, name+": the changes", func() bool {
			_, applied, _ := e.table.Position(0)
			return applied == last
		})
		eventually(t, name+": their acknowledgement over HTTP", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, a := range c.acks {
				for _, p := range a.Positions {
					if p == (feed.Position{Shard: 0, Seq: last}) && a.Member == e.Member() {
						return true
					}
				}
			}
			return false
		})
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+": NATS is back", func() bool { return nc.IsConnected() && b.nc.IsConnected() })
		var made2 []*feed.Change
		eventually(t, name+": an acknowledgement over NATS", func() bool {
			if made2 == nil || b.acked(e.Member(), 0) < made2[0].Seq {
				// Until both subscriptions are back changes are lost; the next one is not.
				made2 = c.write(0, 1)
				b.publish(t, made2...)
				return false
			}
			return true
		})
	}
}
