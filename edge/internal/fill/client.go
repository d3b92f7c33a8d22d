package fill

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// maxAnswer bounds an origin's answer; a page of changes is about 1 MiB.
const maxAnswer = 8 << 20

// ioTimeout bounds one read or write on a connection.
const ioTimeout = 2 * time.Second

// defaultTimeout bounds a call whose context has no deadline.
const defaultTimeout = 5 * time.Second

// errStatus is an answer other than 200.
var errStatus = errors.New("unexpected status")

// Client calls the origins of a list: the one that answered last first, the
// others when it does not. It is safe for concurrent use.
type Client struct {
	origins []*origin
	good    atomic.Uint32 // index of the origin that answered last
	auth    string
}

type origin struct {
	http fasthttp.HostClient
	base string // path before the protocol's own
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
			MaxIdemponentCallAttempts: 2, // a kept connection may have been closed on the other side
			MaxResponseBodySize:       maxAnswer,
			DialDualStack:             true,
		}}
		if isTLS {
			o.http.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
		}
		c.origins = append(c.origins, o)
	}
	if len(c.origins) == 0 {
		return nil, errors.New("no origin is configured")
	}
	return c, nil
}

// Close drops the idle connections.
func (c *Client) Close() {
	for _, o := range c.origins {
		o.http.CloseIdleConnections()
	}
}

// Load reads a key's entry. In the origin's epoch its position is at least
// minSeq if that epoch is the given one. The error wraps link.ErrUnavailable.
func (c *Client) Load(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error) {
	body, err := c.call(ctx, "/v1/fill?domain="+url.QueryEscape(key.Domain)+"&code="+url.QueryEscape(key.Code)+
		"&epoch="+u64(epoch)+"&min="+u64(minSeq))
	if err != nil {
		return nil, fmt.Errorf("fill %s: %w: %w", key, link.ErrUnavailable, err)
	}
	e, err := feed.ParseEntry(body)
	if err != nil || e.Key != key {
		return nil, fmt.Errorf("fill %s: %w: %w", key, link.ErrUnavailable, feed.ErrFormat)
	}
	return e, nil
}

// Heads reads the last position of every shard.
func (c *Client) Heads(ctx context.Context) (*feed.Heads, error) {
	return parse(ctx, c, "heads", "/v1/heads", feed.ParseHeads)
}

// Changes reads a page of a shard's changes after a position.
func (c *Client) Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	path := "/v1/changes?shard=" + strconv.Itoa(shard) + "&epoch=" + u64(epoch) + "&from=" + u64(from)
	return parse(ctx, c, "changes", path, feed.ParseChanges)
}

// Codes reads a page of a shard's keys after a key.
func (c *Client) Codes(ctx context.Context, shard int, after link.Key) (*feed.Codes, error) {
	path := "/v1/codes?shard=" + strconv.Itoa(shard) +
		"&after_domain=" + url.QueryEscape(after.Domain) + "&after_code=" + url.QueryEscape(after.Code)
	return parse(ctx, c, "codes", path, feed.ParseCodes)
}

// Config reads the config shard whole.
func (c *Client) Config(ctx context.Context) (*feed.Config, error) {
	return parse(ctx, c, "config", "/v1/config", feed.ParseConfig)
}

func parse[T any](ctx context.Context, c *Client, what, path string, read func([]byte) (T, error)) (T, error) {
	var none T
	body, err := c.call(ctx, path)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	value, err := read(body)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return value, nil
}

// call asks one origin after the other until one answers 200 or the context
// ends. The body belongs to the caller.
func (c *Client) call(ctx context.Context, path string) ([]byte, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(defaultTimeout)
	}
	var err error
	first := c.good.Load()
	for i := range c.origins {
		n := (int(first) + i) % len(c.origins)
		var body []byte
		// All but the last origin get a share of the time, so that a silent one
		// leaves some for the next.
		until := time.Now().Add(time.Until(deadline) / time.Duration(len(c.origins)-i))
		if body, err = c.origins[n].get(path, c.auth, until); err == nil {
			c.good.Store(uint32(n)) //nolint:gosec // index of a short list
			return body, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func (o *origin) get(path, auth string, deadline time.Time) ([]byte, error) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetHost(o.http.Addr)
	req.SetRequestURI(o.base + path)
	req.Header.Set(fasthttp.HeaderAuthorization, auth)
	if o.http.IsTLS {
		req.URI().SetScheme("https")
	}
	if err := o.http.DoDeadline(req, resp, deadline); err != nil {
		return nil, fmt.Errorf("origin %s: %w", o.http.Addr, err)
	}
	if resp.StatusCode() != fasthttp.StatusOK {
		return nil, fmt.Errorf("origin %s: %w %d", o.http.Addr, errStatus, resp.StatusCode())
	}
	return append([]byte(nil), resp.Body()...), nil
}

func u64(v uint64) string { return strconv.FormatUint(v, 10) }
