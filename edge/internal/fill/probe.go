package fill

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"waypost/shared/feed"
)

// Probe tells an origin where the edge stands and reads the last position of
// every shard, from the origin that answers first in the client's order.
func (c *Client) Probe(ctx context.Context, p *feed.Probe) (*feed.Heads, error) {
	return parse(ctx, c, "probe", request{path: "/v1/probe", body: p.Append(nil)}, feed.ParseHeads)
}

// Ack tells every origin what the edge has applied, since any of them may be
// the one that waits for it: all at once, so that a silent one keeps nobody
// waiting but the caller. The error joins those of the origins that did not
// take it.
func (c *Client) Ack(ctx context.Context, a *feed.Ack) error {
	r := request{path: "/v1/ack", body: a.Append(nil)}
	deadline := deadlineOf(ctx)
	faults := make([]error, len(c.origins))
	var posts sync.WaitGroup
	for i, o := range c.origins {
		posts.Go(func() {
			if _, err := o.do(r, c.auth, deadline); err != nil {
				faults[i] = fmt.Errorf("ack: %w", err)
			}
		})
	}
	posts.Wait()
	return errors.Join(faults...)
}
