package publish

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

const (
	watchPause  = time.Second // between two announcements of what this origin has in view
	liveQueue   = 512         // clicks of one link each, of some 10 KiB at most
	pendingLive = 4096        // messages delivered and not looked at yet, of either subscription
)

// viewer is what has live views open at this origin. It does not wait.
type viewer interface {
	Watched() []uint64
	Changed() <-chan struct{} // has a value when Watched may have changed
	Take(a clicks.Applied)
}

// Live carries clicks from the origin that applies them to those that have them
// in view: each origin announces every second what it watches, and what it did
// not announce for three is not watched any more. Nothing is kept and nothing
// is repeated: what is lost is missing from a view, and from no counter. All
// methods are safe for concurrent use.
type Live struct {
	nc             *nats.Conn
	prefix, origin string
	views          viewer
	interests      interests
	queue          chan addressed

	sent, dropped, damaged atomic.Uint64
}

// addressed are clicks for an origin.
type addressed struct {
	origin  string
	applied clicks.Applied
}

// NewLive makes a Live on a connection made with Options. origin names this
// process and no other. It starts no goroutine.
func NewLive(nc *nats.Conn, prefix, origin string, views viewer) *Live {
	return &Live{nc: nc, prefix: prefix, origin: origin, views: views, queue: make(chan addressed, liveQueue)}
}

func (l *Live) subjectWatch() string { return l.prefix + ".live.watch" }

func (l *Live) subjectTo(origin string) string { return l.prefix + ".live.to." + origin }

// Applied hands over what was committed just now, for other origins: this one's
// own views have been told. It never waits, as Publish does not. It keeps parts
// of the stretch, which must not be modified any more.
func (l *Live) Applied(s *click.Stretch) {
	l.interests.each(time.Now(), func(origin string, link uint64) {
		a, ok := clicks.AppliedTo(s, link)
		if !ok {
			return
		}
		select {
		case l.queue <- addressed{origin: origin, applied: a}:
		default:
			l.dropped.Add(1)
		}
	})
}

// Run listens, announces and sends until ctx ends, also over reconnections. To
// be called once.
func (l *Live) Run(ctx context.Context) error {
	watches, err := l.nc.Subscribe(l.subjectWatch(), l.heard)
	if err != nil {
		return fmt.Errorf("nats live views: %w", err)
	}
	applied, err := l.nc.Subscribe(l.subjectTo(l.origin), l.take)
	if err != nil {
		return errors.Join(fmt.Errorf("nats live clicks: %w", err), watches.Unsubscribe())
	}
	err = errors.Join(watches.SetPendingLimits(pendingLive, pendingBytes), applied.SetPendingLimits(pendingLive, pendingBytes))
	if err == nil {
		l.work(ctx)
	}
	return errors.Join(err, unlessClosed(applied.Unsubscribe()), unlessClosed(watches.Unsubscribe()))
}

func (l *Live) work(ctx context.Context) {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	announced := false // that something is watched
	for {
		select {
		case a := <-l.queue:
			l.send(l.subjectTo(a.origin), appendApplied(a.applied), &l.sent)
			continue
		case <-l.views.Changed():
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		// Once more when nothing is watched any more: others stop at once.
		links := l.views.Watched()
		if len(links) > 0 || announced {
			l.send(l.subjectWatch(), appendAnnouncement(announcement{Origin: l.origin, Links: links}), nil)
		}
		announced = len(links) > 0
	}
}

func (l *Live) send(subject string, message []byte, sent *atomic.Uint64) {
	switch err := l.nc.Publish(subject, message); {
	case err != nil:
		l.dropped.Add(1) // OnState has told why
	case sent != nil:
		sent.Add(1)
	}
}

// heard takes what an origin announces; its own announcements come back to it.
func (l *Live) heard(msg *nats.Msg) {
	a, err := parseAnnouncement(msg.Data)
	switch {
	case err != nil:
		l.damaged.Add(1)
	case a.Origin != l.origin:
		l.interests.note(a.Origin, a.Links, time.Now())
	}
}

func (l *Live) take(msg *nats.Msg) {
	a, err := parseApplied(msg.Data)
	if err != nil {
		l.damaged.Add(1)
		return
	}
	l.views.Take(a)
}

// LiveStats counts messages since NewLive.
type LiveStats struct {
	Sent    uint64 // clicks of one link each, for one other origin
	Dropped uint64 // of any kind: no connection, or the queue was full
	Damaged uint64
}

// Stats is a snapshot.
func (l *Live) Stats() LiveStats {
	return LiveStats{Sent: l.sent.Load(), Dropped: l.dropped.Load(), Damaged: l.damaged.Load()}
}
