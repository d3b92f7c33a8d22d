package fill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// errUnsent means that a request has certainly reached no origin.
var errUnsent = errors.New("not sent")

// onceIdle is for how long a connection for them is kept: far shorter than an
// origin keeps it, since what is written to one that is being closed is lost.
const onceIdle = 15 * time.Second

// newOnce makes a client like another one that sends nothing twice.
func newOnce(like *fasthttp.HostClient) *fasthttp.HostClient {
	return &fasthttp.HostClient{
		Addr: like.Addr, IsTLS: like.IsTLS, TLSConfig: like.TLSConfig, Name: like.Name,
		MaxConns: like.MaxConns, MaxConnWaitTimeout: like.MaxConnWaitTimeout, MaxIdleConnDuration: onceIdle,
		ReadTimeout: like.ReadTimeout, WriteTimeout: like.WriteTimeout, MaxResponseBodySize: like.MaxResponseBodySize,
		MaxIdemponentCallAttempts: 1,
		DialTimeout:               dialOnce,
	}
}

// dialOnce marks the errors after which the request can go elsewhere.
func dialOnce(addr string, timeout time.Duration) (net.Conn, error) {
	conn, err := fasthttp.DialDualStackTimeout(addr, cmp.Or(timeout, ioTimeout))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	return conn, nil
}

// Use asks an origin for one use of a limited link, at most once: the next
// origin is asked only if there was no connection to this one, since a request
// that was written may have taken its use whatever became of the answer. The
// error wraps link.ErrUnavailable.
func (c *Client) Use(ctx context.Context, key link.Key) (*feed.Use, error) {
	r := request{path: "/v1/use?domain=" + url.QueryEscape(key.Domain) + "&code=" + url.QueryEscape(key.Code), body: []byte{}}
	body, err := c.once(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("use %s: %w: %w", key, link.ErrUnavailable, err)
	}
	used, err := feed.ParseUse(body)
	if err != nil || used.Entry.Key != key {
		return nil, fmt.Errorf("use %s: %w: %w", key, link.ErrUnavailable, feed.ErrFormat)
	}
	return used, nil
}

// once is call for what must not be repeated.
func (c *Client) once(ctx context.Context, r request) ([]byte, error) {
	deadline := deadlineOf(ctx)
	first := int(c.good.Load())
	var err error
	for i := range c.origins {
		n := (first + i) % len(c.origins)
		until := time.Now().Add(time.Until(deadline) / time.Duration(len(c.origins)-i))
		var body []byte
		body, err = c.origins[n].send(c.origins[n].once, r, c.auth, until)
		if err == nil {
			c.good.Store(uint32(n)) //nolint:gosec // index of a short list
			return body, nil
		}
		if !errors.Is(err, errUnsent) || ctx.Err() != nil {
			if !errors.Is(err, errStatus) {
				// If the connection was closed on the other side, so were the others: no other visitor is to pay for it.
				c.origins[n].once.CloseIdleConnections()
			}
			break
		}
	}
	return nil, err
}
