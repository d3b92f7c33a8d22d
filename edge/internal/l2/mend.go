package l2

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"waypost/shared/feed"
)

const (
	mendWorkers = 2
	maxPages    = 4096 // answers of the origin to one mend
	mendRetry   = 300 * time.Millisecond
	sourceLimit = 5 * time.Second // one call of the source
)

// errAnswer reports an answer of the origin that does not fit the question.
var errAnswer = errors.New("answer does not fit the question")

// suspect asks for a look at a shard's filter. It never waits.
func (c *Cache) suspect(shard int) {
	f := &c.filters[shard]
	if f.queued.Load() || int64(time.Since(c.born)) < f.notBefore.Load() || !f.queued.CompareAndSwap(false, true) {
		return
	}
	c.mends <- shard // each shard is in it at most once: there is room
}

// mendAll mends suspected filters one after the other. After a fault it waits:
// that one hits all shards, and the watch brings them back.
func (c *Cache) mendAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case shard := <-c.mends:
			f := &c.filters[shard]
			f.queued.Store(false) // before the look: what happens after it is another suspicion
			err := c.mend(ctx, shard)
			if errors.Is(err, errBusy) {
				f.notBefore.Store(int64(time.Since(c.born) + jitter(mendRetry)))
				err = nil
			}
			if ctx.Err() != nil {
				return
			}
			c.logMend(ctx, shard, err)
			if err != nil && !pause(ctx, jitter(mendRetry)) {
				return
			}
		}
	}
}

// logMend tells when mending begins to fail and when it goes on, not each time.
func (c *Cache) logMend(ctx context.Context, shard int, err error) {
	if failing := err != nil; c.failing.Swap(failing) == failing {
		return
	}
	if err == nil {
		c.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "bloom filters are mended again")
		return
	}
	c.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "bloom filters cannot be mended",
		slog.Int("shard", shard), slog.Any("error", err))
}

// mend brings a shard's filter to the head of the shard, building it anew if
// it must: at most once, since an origin that is behind this edge would make
// another useless one.
func (c *Cache) mend(ctx context.Context, shard int) error {
	rebuilt := false
	for range maxPages {
		found, err := c.look(ctx, shard)
		if err != nil {
			return fmt.Errorf("l2 mend shard %d: %w", shard, err)
		}
		f := found[0]
		if c.useless(shard, f) {
			if rebuilt {
				return nil
			}
			rebuilt = true
			if err := c.rebuild(ctx, shard); err != nil {
				return err
			}
			continue
		}
		if c.inStep(shard, f) {
			return nil
		}
		more, err := c.catchUp(ctx, shard, f)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// catchUp moves the filter in Redis on by one answer of the origin. more is
// false when it stands at the head. A filter that the origin cannot continue
// from is distrusted: too far behind, of another epoch, or beyond the head,
// where its "no" would refuse keys that are yet to be made.
func (c *Cache) catchUp(ctx context.Context, shard int, f filter) (more bool, err error) {
	changes, err := c.changes(ctx, shard, f.Epoch, f.Position)
	if err != nil {
		return false, err
	}
	if changes.Epoch != f.Epoch || changes.Reset {
		c.filters[shard].distrust(f.Generation)
		return true, nil
	}
	if len(changes.Rows) == 0 {
		return false, nil
	}
	var calls []*call
	for _, stretch := range contiguous(changes.Rows) {
		calls = append(calls, c.advance(shard, f.Shape, stretch))
	}
	if err := c.run(ctx, calls); err != nil {
		return false, fmt.Errorf("l2 mend shard %d: %w", shard, err)
	}
	for _, one := range calls {
		if err := one.cmd.Err(); err != nil {
			return false, fmt.Errorf("l2 mend shard %d: %w", shard, err)
		}
	}
	c.count.repairs.Add(1)
	return changes.Rows[len(changes.Rows)-1].Seq < changes.Head, nil
}

// changes asks the origin and checks the answer: contiguous rows from the
// position asked for.
func (c *Cache) changes(ctx context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	ctx, cancel := context.WithTimeout(ctx, sourceLimit)
	defer cancel()
	changes, err := c.cfg.Source.Changes(ctx, shard, epoch, from)
	if err != nil {
		return nil, fmt.Errorf("l2 changes of shard %d: %w", shard, err)
	}
	if changes.Epoch != epoch || changes.Reset {
		return changes, nil
	}
	fits := len(changes.Rows) > 0 || changes.Head <= from
	for i, row := range changes.Rows {
		fits = fits && row.Shard == shard && row.Seq == from+1+uint64(i) && row.Epoch == epoch
	}
	if !fits {
		return nil, fmt.Errorf("l2 changes of shard %d: %w", shard, errAnswer)
	}
	return changes, nil
}
