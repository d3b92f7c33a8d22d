package fleet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"waypost/shared/feed"
)

// headsLimit bounds one question for heads, so that another origin can be asked in place of one that hangs.
const headsLimit = 3 * time.Second

// Heads asks the origin's internal listener for the last position of every shard.
func (o *Origin) Heads(ctx context.Context) (*feed.Heads, error) {
	ctx, cancel := context.WithTimeout(ctx, headsLimit)
	defer cancel()
	code, body, err := o.Ask(ctx, "/v1/heads")
	switch {
	case err != nil:
		return nil, err
	case code != http.StatusOK:
		return nil, fmt.Errorf("%s heads: status %d: %s", o.Name, code, body)
	}
	return feed.ParseHeads(body)
}

// Ask calls the internal listener as an edge does.
func (o *Origin) Ask(ctx context.Context, path string) (code int, body []byte, err error) {
	return o.call(ctx, http.MethodGet, path, nil)
}

// Post hands the internal listener a body as an edge does.
func (o *Origin) Post(ctx context.Context, path string, body []byte) (code int, answer []byte, err error) {
	return o.call(ctx, http.MethodPost, path, body)
}

func (o *Origin) call(ctx context.Context, method, path string, in []byte) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+o.Internal+path, bytes.NewReader(in))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	transport := http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// Settle waits until every edge that runs has applied all that was committed before the call. It compares sums over
// all shards, so nothing may be written meanwhile.
func (f *Fleet) Settle(tb testing.TB) {
	tb.Helper()
	var heads *feed.Heads
	Await(tb, "an origin answers with heads", func() (err error) {
		for _, o := range f.Origins {
			if heads, err = o.Heads(tb.Context()); err == nil {
				return nil
			}
		}
		return err
	})
	for _, e := range f.Edges {
		if e.current() != nil {
			e.awaitPosition(tb, heads)
		}
	}
}

// awaitPosition waits until the edge has applied all changes up to these heads.
func (e *Edge) awaitPosition(tb testing.TB, heads *feed.Heads) {
	tb.Helper()
	var want uint64
	for _, seq := range heads.Seq {
		want += seq
	}
	Await(tb, e.Name+" has applied all changes", func() error {
		m, err := e.Metrics(tb.Context())
		if err != nil {
			return err
		}
		epoch, err := m.Sum("waypost_edge_epoch")
		if err != nil {
			return err
		}
		got, err := m.Sum("waypost_edge_feed_position")
		if err != nil {
			return err
		}
		if uint64(epoch) != heads.Epoch || uint64(got) != want {
			return fmt.Errorf("at %d of epoch %d, want %d of epoch %d", uint64(got), uint64(epoch), want, heads.Epoch)
		}
		return nil
	})
}

// AwaitFilters waits until every edge that runs sees a usable Bloom filter for each shard of its region.
func (f *Fleet) AwaitFilters(tb testing.TB) {
	tb.Helper()
	for _, e := range f.Edges {
		Await(tb, e.Name+" has all filters", func() error {
			m, err := e.Metrics(tb.Context())
			if err != nil {
				return err
			}
			if got, err := m.Sum("waypost_edge_filters"); err != nil || got != feed.Shards {
				return fmt.Errorf("%v of %d filters, %w", got, feed.Shards, err)
			}
			return nil
		})
	}
}
