package fill

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// maxAnswer bounds an origin's answer; a page of changes is about 1 MiB.
const maxAnswer = 8 << 20

// ioTimeout bounds one read or write on a connection.
const ioTimeout = 2 * time.Second

// defaultTimeout bounds a call whose context has no deadline.
const defaultTimeout = 5 * time.Second

// errStatus is an answer other than 200.
var errStatus = errors.New("unexpected status")

// errRefused is an answer by which the request itself is at fault: sent again, it
// would fare no better.
var errRefused = errors.New("refused")

// maxReason bounds what is told of an origin's reason, in bytes.
const maxReason = 200

// Client calls the origins of a list: the one that answered last first, the
// others when it does not. It is safe for concurrent use.
type Client struct {
	origins []*origin
	good    atomic.Uint32 // index of the origin that answered last
	auth    string
}

// request is a GET, or a POST if it has a body. Either may be repeated: no call
// of the protocol does more the second time.
type request struct {
	path string
	body []byte
}

type origin struct {
	http fasthttp.HostClient
	once *fasthttp.HostClient // for what must not be sent twice
	long *fasthttp.HostClient // for what may take its time
	base string               // path before the protocol's own
}

// Config is what a Client is made of.
type Config struct {
	Origins  []string // URLs of internal listeners, http or https
	Secret   string
	MaxConns int // to each origin
}

// New makes a Client. The error names the URL that is no origin's.
func New(cfg Config) (*Client, error) {
	c := &Client{auth: "Bearer " + cfg.Secret}
	for _, raw := range cfg.Origins {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("origin %q: not an http or https URL", raw)
		}
		isTLS := u.Scheme == "https"
		o := &origin{base: u.Path, http: fasthttp.HostClient{
			Addr:                      fasthttp.AddMissingPort(u.Host, isTLS),
			IsTLS:                     isTLS,
			Name:                      "waypost-edge",
			MaxConns:                  cfg.MaxConns,
			MaxIdleConnDuration:       30 * time.Second,
			ReadTimeout:               ioTimeout, // these two also bound a TLS handshake, which
			WriteTimeout:              ioTimeout, // the deadline of a call does not reach
			MaxConnWaitTimeout:        time.Second,
			MaxIdemponentCallAttempts: attempts,
			MaxResponseBodySize:       maxAnswer,
			DialDualStack:             true,
		}}
		o.http.RetryIfErr = anew(&o.http)
		if isTLS {
			o.http.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
		}
		o.once = newOnce(&o.http)
		o.long = newLong(&o.http)
		c.origins = append(c.origins, o)
	}
	if len(c.origins) == 0 {
		return nil, errors.New("no origin is configured")
	}
	return c, nil
}

// attempts at one origin: a kept connection may have been closed on the other
// side.
const attempts = 2

// anew lets a failed request be sent again, over a new connection: where one was
// closed on the other side, as by an origin that was restarted, all of them were.
func anew(client *fasthttp.HostClient) fasthttp.RetryIfErrFunc {
	return func(*fasthttp.Request, int, error) (reset, again bool) {
		client.CloseIdleConnections()
		return false, true
	}
}

// Close drops the idle connections.
func (c *Client) Close() {
	for _, o := range c.origins {
		o.http.CloseIdleConnections()
		o.once.CloseIdleConnections()
		o.long.CloseIdleConnections()
	}
}

// call asks one origin after the other until one answers 200 or the context
// ends. The body belongs to the caller.
func (c *Client) call(ctx context.Context, r request) ([]byte, error) {
	return c.ask(ctx, r, func(o *origin) *fasthttp.HostClient { return &o.http })
}

// ask is call over one of the clients of each origin.
func (c *Client) ask(ctx context.Context, r request, over func(*origin) *fasthttp.HostClient) ([]byte, error) {
	deadline := deadlineOf(ctx)
	var err error
	first := c.good.Load()
	for i := range c.origins {
		n := (int(first) + i) % len(c.origins)
		// All but the last origin get a share of the time, so that a silent one
		// leaves some for the next.
		until := time.Now().Add(time.Until(deadline) / time.Duration(len(c.origins)-i))
		body, failed := c.origins[n].send(over(c.origins[n]), r, c.auth, until)
		if failed == nil {
			c.good.Store(uint32(n)) //nolint:gosec // index of a short list
			return body, nil
		}
		// What one origin refuses another one may have taken, or will: refused is
		// what all refuse.
		if err == nil || !errors.Is(failed, errRefused) {
			err = failed
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func deadlineOf(ctx context.Context) time.Time {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline
	}
	return time.Now().Add(defaultTimeout)
}

// do sends one request to this origin. The body belongs to the caller.
func (o *origin) do(r request, auth string, deadline time.Time) ([]byte, error) {
	return o.send(&o.http, r, auth, deadline)
}

func (o *origin) send(client *fasthttp.HostClient, r request, auth string, deadline time.Time) ([]byte, error) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetHost(o.http.Addr)
	req.SetRequestURI(o.base + r.path)
	if r.body != nil {
		req.Header.SetMethod(fasthttp.MethodPost)
		req.Header.SetContentType("application/octet-stream")
		req.SetBodyRaw(r.body)
	}
	req.Header.Set(fasthttp.HeaderAuthorization, auth)
	if o.http.IsTLS {
		req.URI().SetScheme("https")
	}
	if err := client.DoDeadline(req, resp, deadline); err != nil {
		return nil, fmt.Errorf("origin %s: %w", o.http.Addr, err)
	}
	switch status := resp.StatusCode(); status {
	case fasthttp.StatusOK, fasthttp.StatusNoContent:
		return append([]byte(nil), resp.Body()...), nil
	case fasthttp.StatusBadRequest, fasthttp.StatusRequestEntityTooLarge, fasthttp.StatusUnprocessableEntity:
		reason := resp.Body()
		return nil, fmt.Errorf("origin %s: %w %d: %w: %q", o.http.Addr, errStatus, status, errRefused, reason[:min(len(reason), maxReason)])
	default:
		return nil, fmt.Errorf("origin %s: %w %d", o.http.Addr, errStatus, status)
	}
}
