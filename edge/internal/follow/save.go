package follow

import (
	"context"
	"log/slog"
	"time"

	"waypost/shared/feed"
)

const saveEvery = 5 * time.Second

// keeper saves a follower's table to its state folder.
type keeper struct {
	f      *Follower
	last   mark // of what is saved
	failed bool
}

// mark is where a table stands.
type mark struct {
	epoch, applied [feed.AllShards]uint64
	config         *feed.Config
}

// newKeeper takes what the table was made of as saved.
func newKeeper(f *Follower) *keeper { return &keeper{f: f, last: markOf(f)} }

func markOf(f *Follower) (m mark) {
	for shard := range m.epoch {
		m.epoch[shard], m.applied[shard], _ = f.cfg.Table.Position(shard)
	}
	m.config = f.config.Load()
	return m
}

func (k *keeper) run(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			k.save(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// save writes the table if it has moved since, unless ctx ends before there is
// something to write: whoever ends it saves once more. A table of hearsay is not
// kept.
func (k *keeper) save(ctx context.Context) {
	at := markOf(k.f)
	if k.f.cfg.State == nil || k.f.adopted.Load() != settled || at == k.last {
		return
	}
	k.f.cfg.State.take(k.f.cfg.Table, k.f.config.Load)
	if ctx.Err() != nil {
		return
	}
	err := k.f.cfg.State.save()
	if err == nil {
		k.last = at
	} else {
		k.f.stats.stateFaults.Add(1)
	}
	if failed := err != nil; failed != k.failed {
		k.failed = failed
		k.report(ctx, err)
	}
}

func (k *keeper) report(ctx context.Context, err error) {
	if err == nil {
		k.f.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "the positions are saved again")
		return
	}
	k.f.cfg.Logger.LogAttrs(ctx, slog.LevelError, "the positions cannot be saved; a restart would begin without them", slog.Any("error", err))
}
