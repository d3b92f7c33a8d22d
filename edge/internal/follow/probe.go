package follow

import (
	"context"
	"time"

	"waypost/shared/feed"
)

// probe asks for the heads. Probes may overlap: a slow one does not keep the
// next from being sent.
func (f *Follower) probe(ctx context.Context) {
	if f.probes == maxProbes {
		return
	}
	f.probes++
	f.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		p := probed{sent: time.Now()}
		p.heads, p.err = f.cfg.Origin.Heads(ctx)
		p.received = time.Now()
		f.heads <- p
	})
}

// learn takes a probe's answer: a newer epoch resets every shard to the answered
// heads, a head beyond what is applied shows a gap.
func (f *Follower) learn(ctx context.Context, p probed) {
	f.probes--
	f.cfg.Probed(p.err)
	if p.err != nil {
		return
	}
	f.clock.Observe(p.heads.Now, p.sent, p.received)
	for shard, head := range p.heads.Seq {
		epoch, applied, ok := f.cfg.Table.Position(shard)
		switch {
		case !ok || p.heads.Epoch > epoch:
			f.reset(ctx, shard, p.heads.Epoch, head)
		case p.heads.Epoch == epoch && head > applied:
			f.gap(shard, head, p.received)
		}
	}
}

func (f *Follower) fetchConfig(ctx context.Context) {
	if f.fetching {
		return
	}
	f.fetching = true
	f.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		cfg, err := f.cfg.Origin.Config(ctx)
		f.configs <- configured{config: cfg, err: err}
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
}
