package l2

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

const (
	codesPause  = 10 * time.Millisecond // between two pages, so that the origin's other work goes on
	maxCodes    = 1 << 16               // pages of one shard
	buildsAtOne = 15 * time.Second      // how long others leave a shard to the edge that builds it
)

// errBusy means that another edge builds the filter at the moment.
var errBusy = errors.New("l2: the filter is being built")

// rebuild builds a shard's filter from all its keys and stores it unless a
// better one is there. The lock only saves work: what it lets through twice is
// decided by the script.
func (c *Cache) rebuild(ctx context.Context, shard int) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, errBusy) {
			err = fmt.Errorf("l2 rebuild shard %d: %w", shard, err)
		}
	}()
	token := rand.Uint64() //nolint:gosec // tells the edges of a region apart, no secret
	free, err := c.lock(ctx, shard, token)
	if err != nil {
		return err
	}
	if !free {
		return errBusy
	}
	defer func() { err = errors.Join(err, c.unlock(ctx, shard, token)) }()

	found, err := c.look(ctx, shard) // whoever held the lock until now has built it
	if err != nil || !c.useless(shard, found[0]) {
		return err
	}
	f, err := c.build(ctx, shard)
	if err != nil {
		return err
	}
	return c.replace(ctx, shard, f)
}

// build makes the filter in memory: all keys by pages, whose position is the
// first page's head, then the changes since. Keys made while the pages were
// read may be behind the page that would have had them; the changes have them.
func (c *Cache) build(ctx context.Context, shard int) (*bloom.Filter, error) {
	var header bloom.Header
	var hashes []uint64 // 8 bytes a key: how large a filter they need is known at the end
	var after link.Key
	for range maxCodes {
		page, err := c.codes(ctx, shard, after)
		if err != nil {
			return nil, err
		}
		if header.Epoch == 0 {
			header = bloom.Header{
				Epoch:      page.Epoch,
				Position:   page.Head,
				Generation: rand.Uint32(), //nolint:gosec // only has to differ
			}
		}
		if page.Epoch != header.Epoch || page.More && page.Last == after {
			return nil, errAnswer
		}
		hashes = append(hashes, page.Hashes...)
		if !page.More {
			header.Shape = c.fitting(shard, len(hashes))
			f := bloom.New(header)
			for _, hash := range hashes {
				f.Add(hash)
			}
			return f, c.continueTo(ctx, shard, f)
		}
		after = page.Last
		if !pause(ctx, codesPause) {
			return nil, ctx.Err()
		}
	}
	return nil, errAnswer
}

func (c *Cache) codes(ctx context.Context, shard int, after link.Key) (*feed.Codes, error) {
	ctx, cancel := context.WithTimeout(ctx, sourceLimit)
	defer cancel()
	return c.cfg.Source.Codes(ctx, shard, after)
}

// continueTo takes f on to the shard's head, as of the last answer.
func (c *Cache) continueTo(ctx context.Context, shard int, f *bloom.Filter) error {
	for range maxPages {
		changes, err := c.changes(ctx, shard, f.Epoch, f.Position)
		if err != nil {
			return err
		}
		if changes.Epoch != f.Epoch || changes.Reset {
			return errAnswer // moved on while the pages were read
		}
		for _, row := range changes.Rows {
			if row.Kind == feed.Create {
				f.Add(row.Key.Hash())
			}
			f.Position = row.Seq
		}
		if f.Position >= changes.Head {
			return nil
		}
	}
	return nil // further behind than it can catch up with, yet right at its position
}

func (c *Cache) replace(ctx context.Context, shard int, f *bloom.Filter) error {
	var wrong []byte
	if distrusted := c.filters[shard].distrusted.Load(); distrusted != 0 {
		wrong = binary.BigEndian.AppendUint32(nil, uint32(distrusted)) //nolint:gosec // its lower half
	}
	one := &call{script: c.scripts.replace, key: c.keys[shard].filter, args: []any{f.Append(nil), wrong}}
	if err := c.run(ctx, []*call{one}); err != nil {
		return err
	}
	got, err := one.cmd.Text()
	if err != nil || got != scriptOK {
		return err
	}
	c.filters[shard].learn(f.Header)
	c.count.rebuilds.Add(1)
	c.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "bloom filter built", slog.Int("shard", shard),
		slog.Uint64("epoch", f.Epoch), slog.Uint64("position", f.Position))
	return nil
}

func (c *Cache) lock(ctx context.Context, shard int, token uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	return c.cfg.Redis.SetNX(ctx, c.keys[shard].build, token, buildsAtOne).Result()
}

func (c *Cache) unlock(ctx context.Context, shard int, token uint64) error {
	return c.run(ctx, []*call{{script: c.scripts.unlock, key: c.keys[shard].build, args: []any{token}}})
}
