package l2

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/shared/feed"
)

const (
	// maxOnTheWay is how many pipelines of lookups are on their way at once.
	maxOnTheWay = 2
	// maxGathered bounds the lookups of one pipeline.
	maxGathered = 256
)

// gathering sends the questions of lookups. Those that come while others are on
// their way wait for the first of these to come back, and go together, in one
// pipeline: it costs little more than one of them. Safe for concurrent use.
type gathering struct {
	redis   redis.UniversalClient
	timeout time.Duration // of one lookup, waiting included

	mu       sync.Mutex
	onTheWay int
	next     *batch // those that wait; nil: none
}

// gatherings are those for each shard's questions, in turns. A node of a cluster
// that does not answer holds up nobody who asks another one.
func gatherings(client redis.UniversalClient, timeout time.Duration) []gathering {
	n := 1
	if _, cluster := client.(*redis.ClusterClient); cluster {
		n = feed.Shards
	}
	all := make([]gathering, n)
	for i := range all {
		all[i].redis, all[i].timeout = client, timeout
	}
	return all
}

// batch is the questions that go together. The first one's lookup sends them.
type batch struct {
	asked []redis.Cmder
	until time.Time     // the end of the first one's time
	turn  chan struct{} // closed when they may be sent
	done  chan struct{} // closed when they are answered
}

// ask has a question answered, or its commands have the error. It returns within
// the timeout; the end of ctx does not end it, since others may wait for the same
// pipeline, of which it is sent by one: what becomes of a pipeline happens once, to
// however many.
func (g *gathering) ask(ctx context.Context, q *question) (sent bool) {
	until := time.Now().Add(g.timeout)
	b, first := g.join(q, until)
	switch {
	case b == nil:
		defer g.handOn()
		g.send(ctx, until, q.value, q.filter)
		return true
	case first:
		<-b.turn // no later than until: whoever is on the way began before
		defer g.handOn()
		defer close(b.done)
		g.send(ctx, b.until, b.asked...)
		return true
	default:
		<-b.done
		return false
	}
}

// join puts a question to those that wait. It is none of them, and may be sent at
// once, if nothing has to be waited for.
func (g *gathering) join(q *question, until time.Time) (b *batch, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.onTheWay < maxOnTheWay || g.next != nil && len(g.next.asked) >= 2*maxGathered {
		g.onTheWay++
		return nil, false
	}
	if g.next == nil {
		first = true
		g.next = &batch{until: until, turn: make(chan struct{}), done: make(chan struct{})}
	}
	g.next.asked = append(g.next.asked, q.value, q.filter)
	return g.next, first
}

// handOn gives the place of a pipeline that has come back to those that wait.
func (g *gathering) handOn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil || g.onTheWay > maxOnTheWay {
		g.onTheWay--
		return
	}
	close(g.next.turn)
	g.next = nil
}

// send sends commands, each of which has its own error.
func (g *gathering) send(ctx context.Context, until time.Time, cmds ...redis.Cmder) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	defer cancel()
	pipe := g.redis.Pipeline()
	_ = pipe.BatchProcess(ctx, cmds...) // only queued
	_, _ = pipe.Exec(ctx)
}
