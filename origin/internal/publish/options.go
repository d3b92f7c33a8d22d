package publish

import (
	"time"

	"github.com/nats-io/nats.go"
)

// The library's own limits are minutes; a feed that is for speed has to notice
// a dead server within seconds.
const (
	dialTimeout     = 2 * time.Second
	writeTimeout    = time.Second
	pingInterval    = time.Second
	maxPingsOut     = 2
	reconnectWait   = 50 * time.Millisecond
	reconnectJitter = 200 * time.Millisecond // added to the wait
)

// unbuffered turns off the library's memory for messages published while there
// is no connection. Sent late they would be repeats of what edges have fetched
// meanwhile: harmless, but no use for the memory they cost.
const unbuffered = -1

// Options are those of one connection of an origin: it comes up whenever the
// server does, tries every 50 to 250 ms for ever, and drops what is published
// meanwhile. name is shown by the server.
//
// onState is called with nil when the connection is up, with an error when it
// is lost, and with another one when the server refuses something (credentials,
// a subject this user may not publish on); not again for each attempt that
// fails, and not for the caller's own Close. Calls come one at a time, from a
// goroutine of the connection.
func Options(name string, onState func(error)) []nats.Option {
	w := &watch{tell: onState}
	return []nats.Option{
		nats.Name(name),
		nats.Timeout(dialTimeout),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(maxPingsOut),
		nats.FlusherTimeout(writeTimeout),
		nats.ReconnectOnFlusherError(), // a write that timed out may have left half a message
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // credentials that are wrong for a while must not end the retries
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectJitter, reconnectJitter),
		nats.ReconnectBufSize(unbuffered),
		nats.NoCallbacksAfterClientClose(),
		nats.ConnectHandler(func(*nats.Conn) { w.up() }),
		nats.ReconnectHandler(func(*nats.Conn) { w.up() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { w.down(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { w.down(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { w.down(err) }),
	}
}
