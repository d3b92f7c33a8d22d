package positions

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
)

// Watch hears on NATS what origins publish and what edges acknowledge. An edge acknowledges a change when floor and
// position of it are stored, so when an acknowledgement is heard the change was applied before. Safe for concurrent
// use.
type Watch struct {
	conn *nats.Conn
	heard
}

// heard is what came, and when.
type heard struct {
	mu      sync.Mutex
	epoch   uint64 // of the last change, 0 before the first; what another one had is forgotten
	changes map[feed.Position]published
	acks    map[feed.Member][]ack
	damaged int // messages that could not be read
}

// published is a change.
type published struct {
	written   time.Time // by PostgreSQL's clock, within its transaction
	committed time.Time // by the same clock, when its commit began to be written to disk; zero: not told yet
	heard     time.Time // after its commit
}

// ack says that a member had applied a shard up to a position.
type ack struct {
	feed.Position
	heard time.Time
}

// watchPending bounds the messages that wait to be looked at, in bytes.
const watchPending = 256 << 20

// NewWatch listens to a NATS server from now on until Close. prefix begins the subjects.
func NewWatch(url, prefix string) (*Watch, error) {
	conn, err := nats.Connect(url)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	w := &Watch{conn: conn, heard: heard{changes: map[feed.Position]published{}, acks: map[feed.Member][]ack{}}}
	for subject, take := range map[string]func(b []byte, at time.Time) error{
		feed.SubjectAll(prefix):      w.change,
		feed.SubjectAck(prefix, "*"): w.ack,
	} {
		sub, err := conn.Subscribe(subject, func(m *nats.Msg) { w.take(m.Data, take) })
		if err == nil {
			err = sub.SetPendingLimits(-1, watchPending)
		}
		if err != nil {
			conn.Close()
			return nil, fmt.Errorf("watch of %s: %w", subject, err)
		}
	}
	if err := conn.Flush(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("watch: %w", err)
	}
	return w, nil
}

// Close ends the watch; what was heard stays.
func (w *Watch) Close() { w.conn.Close() }

// Committed tells when PostgreSQL began to write the commit of a change to disk; nobody can have seen the change before.
// One that was not heard is passed over.
func (h *heard) Committed(p feed.Position, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, ok := h.changes[p]; ok {
		c.committed = at
		h.changes[p] = c
	}
}

// written is a change's own time stamp; zero if it was not heard.
func (h *heard) written(p feed.Position) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes[p].written
}

func (h *heard) take(b []byte, parse func(b []byte, at time.Time) error) {
	at := time.Now()
	if err := parse(b, at); err != nil {
		h.mu.Lock()
		h.damaged++
		h.mu.Unlock()
	}
}

func (h *heard) change(b []byte, at time.Time) error {
	c, err := feed.ParseChange(b)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.epoch != 0 && c.Epoch != h.epoch {
		clear(h.changes)
		clear(h.acks)
	}
	h.epoch = c.Epoch
	p := feed.Position{Shard: c.Shard, Seq: c.Seq}
	if _, repeated := h.changes[p]; !repeated {
		h.changes[p] = published{written: time.UnixMicro(c.At), heard: at}
	}
	return nil
}

func (h *heard) ack(b []byte, at time.Time) error {
	if len(b) == 0 {
		return nil // the server's word that no edge heard a change
	}
	a, err := feed.ParseAck(b)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range a.Positions {
		h.acks[a.Member] = append(h.acks[a.Member], ack{Position: p, heard: at})
	}
	return nil
}
