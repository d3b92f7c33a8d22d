package publish

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
)

// queueLength bounds the changes that wait for the connection. It holds two
// bulk writes of 1,000 links; at 300 bytes a change that is some 600 KiB, at
// the longest target and expired_url 34 MiB.
const queueLength = 2048

// stopLimit bounds what Run still sends once its context has ended.
const stopLimit = time.Second

// Publisher sends changes to the subjects of their shards, in the order in
// which they were handed over. All methods are safe for concurrent use.
type Publisher struct {
	nc       *nats.Conn
	subjects [feed.AllShards]string
	ack      string // where edges acknowledge them
	queue    chan *feed.Change

	published, dropped atomic.Uint64
}

// New makes a Publisher on a connection made with Options. origin names this
// process and no other: edges acknowledge its changes to its Inbox alone. The
// caller closes the connection after Run, which sends what it still buffers. It
// starts no goroutine.
func New(nc *nats.Conn, prefix, origin string) *Publisher {
	p := &Publisher{nc: nc, ack: feed.SubjectAck(prefix, origin), queue: make(chan *feed.Change, queueLength)}
	for shard := range p.subjects {
		p.subjects[shard] = feed.Subject(prefix, shard)
	}
	return p
}

// Publish hands over the changes of one committed transaction; nil ones are
// skipped. It never waits: a write to a stalled connection would, so the
// changes go by a queue, and those that find it full are dropped and counted.
//
// Two writers of one shard commit in the order of their positions, but the
// later one may get here first. An edge then waits a moment for the gap to
// close, which costs less than holding writers back to order them. The changes
// must not be modified any more.
func (p *Publisher) Publish(changes []*feed.Change) {
	for _, c := range changes {
		if c == nil {
			continue
		}
		select {
		case p.queue <- c:
		default:
			p.dropped.Add(1)
		}
	}
}

// Run sends what Publish hands over until ctx ends, then what is left, for at
// most about a second. To be called once. It always returns nil: a change that
// cannot be sent is counted, and brought by the outbox.
func (p *Publisher) Run(ctx context.Context) error {
	var buf []byte
	for {
		select {
		case c := <-p.queue:
			buf = p.send(c, buf)
		case <-ctx.Done():
			p.finish(context.WithoutCancel(ctx), buf)
			return nil
		}
	}
}

// send publishes one change; buf is reused for its bytes. The connection
// copies them.
func (p *Publisher) send(c *feed.Change, buf []byte) []byte {
	buf = c.Append(buf[:0])
	if err := p.nc.PublishRequest(p.subjects[c.Shard], p.ack, buf); err != nil {
		p.dropped.Add(1) // OnState has told why
		return buf
	}
	p.published.Add(1)
	return buf
}

// finish sends what is still in the queue. Closing the connection flushes it.
func (p *Publisher) finish(ctx context.Context, buf []byte) {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case c := <-p.queue:
			buf = p.send(c, buf)
		default:
			return
		}
	}
}

// Stats counts changes since New.
type Stats struct {
	Published uint64 // handed to the connection
	Dropped   uint64 // not: no connection, or the queue was full
}

// Stats is a snapshot.
func (p *Publisher) Stats() Stats {
	return Stats{Published: p.published.Load(), Dropped: p.dropped.Load()}
}
