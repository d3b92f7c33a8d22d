package follow

import (
	"time"

	"github.com/nats-io/nats.go"
)

// Options are those of an edge's NATS connection: it may be away at the start,
// a dead one is noticed in about two seconds (nats.go's default is four
// minutes), and it is looked for again without an end. onState gets nil when it
// is there and the reason when it is not; it must not block.
func Options(name string, onState func(err error)) []nats.Option {
	const (
		nearest = 50 * time.Millisecond
		spread  = 200 * time.Millisecond
	)
	return []nats.Option{
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // credentials may be put right while this edge runs
		nats.ReconnectWait(nearest),
		nats.ReconnectJitter(spread, spread),
		nats.Timeout(time.Second),
		nats.PingInterval(time.Second),
		nats.MaxPingsOutstanding(2),
		// A write holds the connection's lock, which pings need too: with the
		// default of a minute a server that reads nothing would not be noticed.
		nats.FlusherTimeout(time.Second),
		nats.ReconnectBufSize(-1), // an edge publishes nothing that is worth keeping
		nats.ConnectHandler(func(*nats.Conn) { onState(nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { onState(nil) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err == nil {
				err = nats.ErrConnectionClosed
			}
			onState(err)
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { onState(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { onState(err) }),
	}
}
