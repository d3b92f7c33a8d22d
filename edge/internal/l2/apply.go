package l2

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// gatherTime is how long a change waits for others, so that Redis is asked once for
// all of them. Until Redis has it its floor refuses what Redis says of its key.
const gatherTime = 20 * time.Millisecond

const (
	maxBacklog = 256 // changes of one shard that wait for Redis; half of them wait no longer
	maxRows    = 128 // positions in one script call, some thousand bits
)

// backlog is the applied changes of one shard that Redis has not seen yet.
type backlog struct {
	mu   sync.Mutex
	rows []*feed.Change
}

// Applied takes a change that this edge has applied. If this edge is the
// region's writer, the filter moves on and a value that is present is replaced.
// It never waits; what does not fit is found
// missing later and read from the origin. Call it in order for each shard.
func (c *Cache) Applied(change *feed.Change) {
	if change.Shard >= feed.Shards || !c.writes() {
		return
	}
	b := &c.backlog[change.Shard]
	b.mu.Lock()
	full := len(b.rows) >= maxBacklog
	if !full {
		b.rows = append(b.rows, change)
	}
	half := len(b.rows) >= maxBacklog/2
	b.mu.Unlock()
	if full {
		c.count.overflows.Add(1)
		c.suspect(change.Shard)
		return
	}
	signal(c.woken)
	if half {
		signal(c.pressed)
	}
}

// signal puts a token where there is none.
func signal(tokens chan<- struct{}) {
	select {
	case tokens <- struct{}{}:
	default:
	}
}

func (b *backlog) take() []*feed.Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	rows := b.rows
	b.rows = nil
	return rows
}

func (b *backlog) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rows) == 0
}

// applyAll brings Redis what Applied was given, all shards together, as much
// at once as has come meanwhile. What a fault loses the watch finds.
func (c *Cache) applyAll(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.gather(ctx, timer) {
		var advances, refreshes []*call
		var shards []int // of advances
		for shard := range c.backlog {
			rows := c.backlog[shard].take()
			for _, stretch := range contiguous(rows) {
				advances = append(advances, c.advance(shard, c.filters[shard].known().Shape, stretch))
				shards = append(shards, shard)
			}
			refreshes = append(refreshes, c.refreshes(rows)...)
		}
		// A value that stays old is refused by the floors.
		if err := c.run(ctx, slices.Concat(advances, refreshes)); err != nil {
			continue
		}
		for i, one := range advances {
			if got, err := one.cmd.Text(); err != nil || got != scriptOK {
				c.suspect(shards[i])
			}
		}
	}
}

// gather waits for changes, and then a little for more; false when ctx has ended.
func (c *Cache) gather(ctx context.Context, timer *time.Timer) bool {
	select {
	case <-ctx.Done():
		return false
	case <-c.woken:
	}
	timer.Reset(gatherTime)
	select {
	case <-ctx.Done():
		return false
	case <-c.pressed:
	case <-timer.C:
	}
	return true
}

// contiguous cuts rows, which are in order, where a position is missing or the
// epoch changes, and into pieces of at most maxRows.
func contiguous(rows []*feed.Change) (stretches [][]*feed.Change) {
	start := 0
	for i := 1; i <= len(rows); i++ {
		if i < len(rows) && i-start < maxRows &&
			rows[i].Seq == rows[i-1].Seq+1 && rows[i].Epoch == rows[i-1].Epoch {
			continue
		}
		stretches = append(stretches, rows[start:i])
		start = i
	}
	return stretches
}

// scriptOK is the answer of the filter's scripts when the filter is as wanted.
const scriptOK = "ok"

// advance moves a shard's filter of this shape on by contiguous changes. Only
// a create brings a new key: a change of any other kind found its key's row.
func (c *Cache) advance(shard int, shape bloom.Shape, rows []*feed.Change) *call {
	first, last := rows[0], rows[len(rows)-1]
	header := bloom.Header{Shape: shape, Epoch: first.Epoch, Position: last.Seq}.Append(nil)
	args := make([]any, 0, 5+len(rows))
	args = append(args, header[8:16], header[24:32], shape.Bytes(), first.Seq, header[16:24])
	for _, row := range rows {
		var bits []byte
		if row.Kind == feed.Create {
			bits = packedBits(shape, row.Key.Hash())
		}
		args = append(args, bits)
	}
	return &call{script: c.scripts.advance, key: c.keys[shard].filter, args: args}
}

func packedBits(shape bloom.Shape, hash uint64) []byte {
	var buf [bloom.MaxK]uint32
	packed := make([]byte, 0, 4*bloom.MaxK)
	for _, bit := range shape.Positions(hash, buf[:0]) {
		packed = binary.BigEndian.AppendUint32(packed, bit)
	}
	return packed
}

// refreshes replaces values by the last of each key's changes. A purge needs
// nothing: its floor refuses the value.
func (c *Cache) refreshes(rows []*feed.Change) (calls []*call) {
	seen := make(map[link.Key]bool, len(rows))
	for _, row := range slices.Backward(rows) {
		e, ok, err := row.Entry()
		if err != nil || !ok || seen[e.Key] { // err: a newer origin's value
			continue
		}
		seen[e.Key] = true
		calls = append(calls, c.refresh(e))
	}
	return calls
}
