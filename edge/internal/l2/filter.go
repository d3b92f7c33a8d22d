package l2

import (
	"cmp"
	"context"

	"github.com/redis/go-redis/v9"

	"waypost/shared/bloom"
)

// filter is a shard's filter as Redis has it: its header, or that there is
// none.
type filter struct {
	bloom.Header
	whole bool // there is one, of the length that its header says
}

// look reads the headers of these shards' filters in one pipeline, the error
// being Redis's, and remembers their shapes.
func (c *Cache) look(ctx context.Context, shards ...int) ([]filter, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	pipe := c.cfg.Redis.Pipeline()
	headers := make([]*redis.StringCmd, len(shards))
	lengths := make([]*redis.IntCmd, len(shards))
	for i, shard := range shards {
		headers[i] = pipe.GetRange(ctx, c.keys[shard].filter, 0, bloom.HeaderSize-1)
		lengths[i] = pipe.StrLen(ctx, c.keys[shard].filter)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return nil, err
	}
	filters := make([]filter, len(shards))
	for i, shard := range shards {
		if err := cmp.Or(serverFault(headers[i].Err()), serverFault(lengths[i].Err())); err != nil {
			return nil, err
		}
		h, err := bloom.ParseHeader(headers[i].Val())
		if err != nil || lengths[i].Val() != int64(h.Bytes()) {
			continue
		}
		filters[i] = filter{Header: h, whole: true}
		c.filters[shard].learn(h)
	}
	return filters, nil
}

// useless reports whether a shard's filter can only be built anew: none, one
// that was found wrong, one of an epoch that is over, or one too small.
func (c *Cache) useless(shard int, f filter) bool {
	epoch, _, ok := c.cfg.Table.Position(shard)
	return !f.whole || !c.filters[shard].trusts(f.Generation) || ok && f.Epoch < epoch || c.filters[shard].wanted().Beyond(f.Shape)
}

// inStep reports whether a shard's filter stands exactly where this edge does.
func (c *Cache) inStep(shard int, f filter) bool {
	epoch, applied, ok := c.cfg.Table.Position(shard)
	return ok && f.Epoch == epoch && f.Position == applied
}
