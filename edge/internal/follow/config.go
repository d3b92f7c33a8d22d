package follow

import (
	"context"

	"waypost/shared/feed"
)

type configured struct {
	config *feed.Config
	err    error
}

func (f *Follower) fetchConfig(ctx context.Context) {
	if f.fetching {
		return
	}
	f.fetching = true
	f.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		cfg, err := f.cfg.History.Config(ctx)
		f.configs <- configured{config: cfg, err: err} // has room for the one fetch
	})
}

// configure takes the config shard as fetched. After a failure, or where it is
// older than what is applied, the next probe asks again.
func (f *Follower) configure(got configured) {
	f.fetching = false
	if got.err != nil {
		return
	}
	epoch, applied, ok := f.cfg.Table.Position(feed.ConfigShard)
	if ok && (got.config.Epoch < epoch || got.config.Epoch == epoch && got.config.Seq < applied) {
		return
	}
	f.config.Store(got.config)
	f.resetTo(feed.ConfigShard, got.config.Epoch, got.config.Seq)
	f.acker.everywhere(feed.ConfigShard)
	if !ok || got.config.Epoch > epoch {
		f.Probe() // the answer that led here found no shard to grant a lease to
	}
}
