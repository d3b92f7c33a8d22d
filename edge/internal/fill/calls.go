package fill

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// Load reads a key's entry. In the origin's epoch its position is at least
// minSeq if that epoch is the given one. The error wraps link.ErrUnavailable.
func (c *Client) Load(ctx context.Context, key link.Key, epoch, minSeq uint64) (*feed.Entry, error) {
	body, err := c.call(ctx, get("/v1/fill?domain="+url.QueryEscape(key.Domain)+"&code="+url.QueryEscape(key.Code)+
		"&epoch="+u64(epoch)+"&min="+u64(minSeq)))
	if err != nil {
		return nil, fmt.Errorf("fill %s: %w: %w", key, link.ErrUnavailable, err)
	}
	e, err := feed.ParseEntry(body)
	if err != nil || e.Key != key {
		return nil, fmt.Errorf("fill %s: %w: %w", key, link.ErrUnavailable, feed.ErrFormat)
	}
	return e, nil
}

// Changes reads a page of a shard's changes after a position.
func (c *Client) Changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	path := "/v1/changes?shard=" + strconv.Itoa(shard) + "&epoch=" + u64(epoch) + "&from=" + u64(from)
	return parse(ctx, c, "changes", get(path), feed.ParseChanges)
}

// Codes reads a page of a shard's keys after a key.
func (c *Client) Codes(ctx context.Context, shard int, after link.Key) (*feed.Codes, error) {
	path := "/v1/codes?shard=" + strconv.Itoa(shard) +
		"&after_domain=" + url.QueryEscape(after.Domain) + "&after_code=" + url.QueryEscape(after.Code)
	return parse(ctx, c, "codes", get(path), feed.ParseCodes)
}

// Config reads the config shard whole.
func (c *Client) Config(ctx context.Context) (*feed.Config, error) {
	return parse(ctx, c, "config", get("/v1/config"), feed.ParseConfig)
}

func parse[T any](ctx context.Context, c *Client, what string, r request, read func([]byte) (T, error)) (T, error) {
	var none T
	body, err := c.call(ctx, r)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	value, err := read(body)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	return value, nil
}

func get(path string) request { return request{path: path} }

func u64(v uint64) string { return strconv.FormatUint(v, 10) }
