package follow

import (
	"context"
	"math"

	"waypost/shared/feed"
)

// settled is where adopting ends: the table has positions of its own.
const settled = math.MaxUint64

// adoption is an epoch that somebody met, and waits for what becomes of it.
type adoption struct {
	epoch uint64
	done  chan struct{} // closed when the table has taken it up, or never will
}

// Adopt hands over an epoch that was seen in Redis by an edge that knows none,
// because it was started without a saved table while no origin answers. Links
// found there can then be judged, though nothing is fresh. It returns when that
// is done, or ctx ends; at once on an edge that has positions. It is safe for
// concurrent use.
func (f *Follower) Adopt(ctx context.Context, epoch uint64) {
	if epoch <= f.adopted.Load() {
		return
	}
	asked := adoption{epoch: epoch, done: make(chan struct{})}
	select {
	case f.adopt <- asked:
	case <-f.ended:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-asked.done:
	case <-f.ended:
	case <-ctx.Done():
	}
}

// adoptEpoch waits for a probe to fail: an origin that answers knows better.
// The config shard stays without state, since its rows are not in Redis.
func (f *Follower) adoptEpoch(asked adoption) {
	defer close(asked.done)
	if asked.epoch <= f.adopted.Load() || !f.probing.failed {
		return
	}
	for shard := range feed.Shards {
		f.cfg.Table.Adopt(shard, asked.epoch)
	}
	f.adopted.Store(asked.epoch)
}
