package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// The bounds of what edges can send.
const (
	maxProbes     = 4096 // answered at the same time; each waits for a read that serves many
	probeTimeout  = 2 * time.Second
	pendingProbes = 4096 // delivered and not looked at yet
	pendingAcks   = 65536
	pendingBytes  = 16 << 20 // of either
)

// queueGroup is what all origins answer probes as: each probe goes to one.
const queueGroup = "origins"

// prober answers probes of edges.
type prober interface {
	Answer(ctx context.Context, p *feed.Probe) (*feed.Heads, error)
}

// acknowledger takes what edges say they have applied. It does not wait.
type acknowledger interface {
	Ack(a *feed.Ack)
}

// Rooms are what an Inbox hands messages on to; all are required.
type Rooms struct {
	Probes prober
	Acks   acknowledger // those of changes that this origin published
	Shared acknowledger // those that every origin hears
}

// Inbox takes what edges send by NATS: acknowledgements of the changes that
// this origin published, those that are for all origins, whoever passes them on,
// and probes, which go to any origin.
type Inbox struct {
	nc     *nats.Conn
	prefix string
	origin string
	rooms  Rooms
	logger *slog.Logger
	slots  chan struct{} // one for each probe in hand

	crowded, damaged atomic.Uint64
}

// NewInbox makes an Inbox on a connection made with Options. origin is that of
// the Publisher; logger takes faults of this service. It starts no goroutine.
func NewInbox(nc *nats.Conn, prefix, origin string, rooms Rooms, logger *slog.Logger) *Inbox {
	return &Inbox{
		nc: nc, prefix: prefix, origin: origin, rooms: rooms, logger: logger,
		slots: make(chan struct{}, maxProbes),
	}
}

// Run listens until ctx ends, also over reconnections, and returns when no probe
// is in hand. To be called once.
func (in *Inbox) Run(ctx context.Context) error {
	subs, err := in.subscribe(ctx)
	if err == nil {
		<-ctx.Done()
	}
	for _, sub := range subs {
		err = errors.Join(err, unlessClosed(sub.Unsubscribe()))
	}
	for range cap(in.slots) { // all are free once the last probe is answered, and then none can be taken
		in.slots <- struct{}{}
	}
	return err
}

// subscribe returns what it could subscribe to, also beside an error.
func (in *Inbox) subscribe(ctx context.Context) (subs []*nats.Subscription, err error) {
	for subject, to := range map[string]acknowledger{
		feed.SubjectAck(in.prefix, in.origin): in.rooms.Acks,
		feed.SubjectAckAll(in.prefix):         in.rooms.Shared,
	} {
		acks, err := in.nc.Subscribe(subject, func(msg *nats.Msg) { in.ack(msg, to) })
		if err != nil {
			return subs, fmt.Errorf("nats acknowledgements: %w", err)
		}
		subs = append(subs, acks)
		if err := acks.SetPendingLimits(pendingAcks, pendingBytes); err != nil {
			return subs, fmt.Errorf("nats acknowledgements: %w", err)
		}
	}
	probes, err := in.nc.QueueSubscribe(feed.SubjectProbe(in.prefix), queueGroup, func(msg *nats.Msg) { in.probe(ctx, msg) })
	if err != nil {
		return subs, fmt.Errorf("nats probes: %w", err)
	}
	subs = append(subs, probes)
	return subs, probes.SetPendingLimits(pendingProbes, pendingBytes)
}

// unlessClosed forgives that the connection went first.
func unlessClosed(err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) {
		return nil
	}
	return err
}

// ack takes one acknowledgement, in the goroutine of its subscription. An empty
// message is the server's word that no edge heard the change.
func (in *Inbox) ack(msg *nats.Msg, to acknowledger) {
	if len(msg.Data) == 0 {
		return
	}
	a, err := feed.ParseAck(msg.Data)
	if err != nil {
		in.damaged.Add(1)
		return
	}
	to.Ack(a)
}

// probe answers one probe in a goroutine of its own, since many wait for one
// read. Run waits for them by their slots.
func (in *Inbox) probe(ctx context.Context, msg *nats.Msg) {
	p, err := feed.ParseProbe(msg.Data)
	if err != nil || msg.Reply == "" {
		in.damaged.Add(1)
		in.respond(msg, nil)
		return
	}
	select {
	case in.slots <- struct{}{}:
	default:
		in.crowded.Add(1)
		in.respond(msg, nil)
		return
	}
	go func() {
		defer func() { <-in.slots }()
		// One that is in hand when ctx ends is answered all the same.
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		in.respond(msg, in.answer(bounded, p))
	}()
}

// answer is the bytes of the answer, none where there are no heads to give.
func (in *Inbox) answer(ctx context.Context, p *feed.Probe) []byte {
	heads, err := in.rooms.Probes.Answer(ctx, p)
	switch {
	case err == nil:
		return heads.Append(nil)
	case errors.Is(err, link.ErrUnavailable), errors.Is(err, context.DeadlineExceeded): // readiness says so once
	default:
		in.logger.LogAttrs(ctx, slog.LevelError, "probe by NATS", slog.Any("error", err))
	}
	return nil
}

// respond answers, if need be with nothing, so that the edge tries again, or
// elsewhere, without waiting in vain.
func (in *Inbox) respond(msg *nats.Msg, body []byte) {
	if msg.Reply != "" {
		_ = msg.Respond(body) // lost with the connection: OnState has told why, and the edge probes again
	}
}

// InboxStats counts messages since NewInbox.
type InboxStats struct {
	Crowded uint64 // probes that found too many in hand
	Damaged uint64 // messages that were neither probes nor acknowledgements
}

// Stats is a snapshot.
func (in *Inbox) Stats() InboxStats {
	return InboxStats{Crowded: in.crowded.Load(), Damaged: in.damaged.Load()}
}
