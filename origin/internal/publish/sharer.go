package publish

import (
	"context"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"waypost/shared/feed"
)

// maxShares bounds the acknowledgements that wait for the connection, of at most
// some 900 bytes each.
const maxShares = 4096

// Sharer passes on to all origins what an edge told this one alone. All methods
// are safe for concurrent use.
type Sharer struct {
	nc      *nats.Conn
	subject string
	queue   chan *feed.Ack

	shared, dropped atomic.Uint64
}

// NewSharer makes a Sharer on a connection made with Options. It starts no
// goroutine.
func NewSharer(nc *nats.Conn, prefix string) *Sharer {
	return &Sharer{nc: nc, subject: feed.SubjectAckAll(prefix), queue: make(chan *feed.Ack, maxShares)}
}

// Share hands an acknowledgement over, which must not be modified any more. It
// never waits: what finds the queue full is dropped and counted.
func (s *Sharer) Share(a *feed.Ack) {
	select {
	case s.queue <- a:
	default:
		s.dropped.Add(1)
	}
}

// Run sends what Share hands over until ctx ends. To be called once. It always
// returns nil: an acknowledgement that cannot be sent is counted, and the write
// that waits for it may be told by a later probe, or waits in vain.
func (s *Sharer) Run(ctx context.Context) error {
	var buf []byte
	for {
		select {
		case <-ctx.Done():
			return nil
		case a := <-s.queue:
			buf = a.Append(buf[:0])
			if err := s.nc.Publish(s.subject, buf); err != nil {
				s.dropped.Add(1) // OnState has told why
				continue
			}
			s.shared.Add(1)
		}
	}
}

// SharerStats counts acknowledgements since NewSharer.
type SharerStats struct {
	Shared  uint64 // handed to the connection
	Dropped uint64 // not: no connection, or the queue was full
}

// Stats is a snapshot.
func (s *Sharer) Stats() SharerStats {
	return SharerStats{Shared: s.shared.Load(), Dropped: s.dropped.Load()}
}
