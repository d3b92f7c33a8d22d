package follow

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"waypost/shared/feed"
)

const (
	maxAcks    = 256 // acknowledgements waiting for NATS; beyond, they go over HTTP
	maxPosts   = 4   // acknowledgements over HTTP in flight, so that a silent origin does not hold up the others
	ackTimeout = 500 * time.Millisecond
)

// acker tells the origins what is applied. A change from the feed says where
// it is waited for; one that was fetched may be waited for at any origin. None
// of it blocks the loop, and what is sent is the position at that moment, so
// nothing piles up. What is lost the next probe stands in for.
type acker struct {
	bus    bus // nil: HTTP alone
	prefix string
	all    string // the subject that every origin hears
	origin origin
	member feed.Member
	table  *feed.Table

	byReply map[string]*shards // the loop's: what this turn applied, by reply subject
	replies chan reply

	mu   sync.Mutex
	owed shards        // for every origin
	wake chan struct{} // there is something owed

	sent, faults atomic.Uint64
}

// shards is a set of shards.
type shards [feed.AllShards]bool

type reply struct {
	subject string
	shards  *shards
	body    []byte
}

func newAcker(wire bus, prefix string, over origin, member feed.Member, table *feed.Table) *acker {
	return &acker{
		bus: wire, prefix: feed.SubjectAck(prefix, ""), all: feed.SubjectAckAll(prefix),
		origin: over, member: member, table: table,
		byReply: make(map[string]*shards), replies: make(chan reply, maxAcks), wake: make(chan struct{}, 1),
	}
}

// add acknowledges a change that is applied where it asks for that. Only the
// loop calls it; flush sends.
func (a *acker) add(m message) {
	if a.bus == nil || !strings.HasPrefix(m.reply, a.prefix) {
		return // it came from elsewhere: there is nowhere to answer to
	}
	a.to(m.reply, m.Shard)
}

// everywhere acknowledges a shard whose changes came without saying where they
// are waited for. Only the loop calls it; flush sends. It goes both ways: NATS
// reaches origins that this edge does not know, HTTP does without NATS, and which
// of them works shows too late for the write that waits.
func (a *acker) everywhere(shard int) {
	if a.bus != nil {
		a.to(a.all, shard)
	}
	a.owe(shard)
}

func (a *acker) to(subject string, shard int) {
	set := a.byReply[subject]
	if set == nil {
		set = new(shards)
		a.byReply[subject] = set
	}
	set[shard] = true
}

// flush sends what was added, one acknowledgement a reply subject.
func (a *acker) flush() {
	for subject, set := range a.byReply {
		select {
		case a.replies <- reply{subject: subject, shards: set, body: a.ack(set).Append(nil)}:
		default:
			a.owe(set.list()...)
		}
	}
	clear(a.byReply)
}

// owe acknowledges shards to every origin that this edge knows, over HTTP.
func (a *acker) owe(list ...int) {
	a.mu.Lock()
	for _, shard := range list {
		a.owed[shard] = true
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run starts what sends, until ctx ends.
func (a *acker) run(ctx context.Context, work *sync.WaitGroup) {
	if a.bus != nil {
		work.Go(func() { a.publish(ctx) })
	}
	for range maxPosts {
		work.Go(func() { a.post(ctx) })
	}
}

func (a *acker) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-a.replies:
			err := a.bus.Publish(r.subject, r.body)
			switch {
			case err == nil:
				a.sent.Add(1)
			case r.subject != a.all: // NATS is away; those go over HTTP as well
				a.owe(r.shards.list()...)
			}
		}
	}
}

func (a *acker) post(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		}
		a.mu.Lock()
		owed := a.owed
		a.owed = shards{}
		a.mu.Unlock()
		ack := a.ack(&owed)
		if len(ack.Positions) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, ackTimeout)
		if err := a.origin.Ack(ctx, ack); err != nil {
			a.faults.Add(1)
		} else {
			a.sent.Add(1)
		}
		cancel()
	}
}

// ack says how far the shards of the newest epoch among them are.
func (a *acker) ack(set *shards) *feed.Ack {
	ack := &feed.Ack{Member: a.member}
	for _, shard := range set.list() {
		epoch, applied, ok := a.table.Position(shard)
		if !ok || epoch < ack.Epoch {
			continue
		}
		if epoch > ack.Epoch {
			ack.Epoch, ack.Positions = epoch, nil
		}
		ack.Positions = append(ack.Positions, feed.Position{Shard: shard, Seq: applied})
	}
	return ack
}

func (s *shards) list() (list []int) {
	for shard, in := range s {
		if in {
			list = append(list, shard)
		}
	}
	return list
}
