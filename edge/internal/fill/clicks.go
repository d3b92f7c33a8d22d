package fill

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"waypost/shared/click"
	"waypost/shared/feed"
)

// longTimeout bounds one read or write of a stretch: megabytes over a line
// between continents, applied by a database that may have others to apply first.
// The call's deadline is the tighter bound.
const longTimeout = 30 * time.Second

// longConns is how many stretches are on their way to an origin at most.
const longConns = 4

// newLong makes a client like another one that waits longer, over connections of
// its own.
func newLong(like *fasthttp.HostClient) *fasthttp.HostClient {
	long := &fasthttp.HostClient{
		Addr: like.Addr, IsTLS: like.IsTLS, TLSConfig: like.TLSConfig, Name: like.Name,
		MaxConns: longConns, MaxConnWaitTimeout: like.MaxConnWaitTimeout, MaxIdleConnDuration: like.MaxIdleConnDuration,
		ReadTimeout: longTimeout, WriteTimeout: longTimeout, MaxResponseBodySize: like.MaxResponseBodySize,
		MaxIdemponentCallAttempts: like.MaxIdemponentCallAttempts, DialDualStack: like.DialDualStack,
	}
	long.RetryIfErr = anew(long)
	return long
}

// Clicks hands a stretch over and returns the mark that the origin holds for its
// log, whether it has applied the stretch or not. It may reach several origins,
// or one several times: all but one of them find the mark moved. After an error
// it may have been applied, unless that wraps click.ErrRefused: then all origins
// have refused it.
func (c *Client) Clicks(ctx context.Context, stretch []byte) (mark uint64, err error) {
	r := request{path: "/v1/clicks", body: stretch}
	body, err := c.ask(ctx, r, func(o *origin) *fasthttp.HostClient { return o.long })
	if errors.Is(err, errRefused) {
		return 0, fmt.Errorf("clicks: %w: %w", click.ErrRefused, err)
	}
	if err != nil {
		return 0, fmt.Errorf("clicks: %w", err)
	}
	if len(body) != 8 {
		return 0, fmt.Errorf("clicks: mark of %d bytes: %w", len(body), feed.ErrFormat)
	}
	return binary.BigEndian.Uint64(body), nil
}
