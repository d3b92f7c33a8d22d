package follow

import (
	"math"

	"waypost/shared/feed"
)

// settled is where adopting ends: the table has positions of its own.
const settled = math.MaxUint64

// Adopt hands over an epoch that was seen in Redis by an edge that knows none,
// because it was started without a saved table while no origin answers. Links
// found there can then be judged, though nothing is fresh. It does not block,
// does nothing on an edge that has positions, and is safe for concurrent use.
func (f *Follower) Adopt(epoch uint64) {
	if epoch <= f.adopted.Load() {
		return
	}
	select {
	case f.adopt <- epoch:
	default: // who meets the epoch again hands it over again
	}
}

// adoptEpoch waits for a probe to fail: an origin that answers knows better.
// The config shard stays without state, since its rows are not in Redis.
func (f *Follower) adoptEpoch(epoch uint64) {
	if epoch <= f.adopted.Load() || !f.probing.failed {
		return
	}
	for shard := range feed.Shards {
		f.cfg.Table.Adopt(shard, epoch)
	}
	f.adopted.Store(epoch)
}
