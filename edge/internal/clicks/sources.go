package clicks

import (
	"log/slog"
	"math"
	"slices"
	"strings"

	"waypost/edge/internal/clicks/spool"
)

// newSources lists what there is to ship: logs with their stored stretches, and
// stored stretches whose log is gone. The region is of those that say none.
func newSources(logs []*spool.Log, shelved map[string][]stored, region string) []*source {
	var all []*source
	for i, log := range logs {
		src := &source{boot: log.Boot(), region: log.Label(), log: log, stored: shelved[log.Boot()], own: i == len(logs)-1}
		src.known, src.mine = src.own, src.own
		if !src.own {
			src.ahead = math.MaxUint64 // what earlier processes saw of the voids is not known
		}
		if src.region == "" {
			src.region = region
		}
		delete(shelved, src.boot)
		all = append(all, src)
	}
	for boot, stored := range shelved {
		all = append(all, &source{boot: boot, region: region, stored: stored})
	}
	slices.SortFunc(all, func(a, b *source) int { // boots begin with their time
		switch {
		case a.own:
			return 1
		case b.own:
			return -1
		default:
			return strings.Compare(a.boot, b.boot)
		}
	})
	return all
}

// found are the sources that earlier processes left, and the own one. Where the
// stored stretches cannot be listed their folder goes into quarantine; if it
// cannot be moved either, older logs wait for another start, since nobody knows
// how much of them is stored.
func found(logs []*spool.Log, shelf shelf, cfg Config) []*source {
	shelved, err := shelf.list()
	if err != nil && shelf.quarantine.take(shelf.dir, err) != nil {
		cfg.Logger.Error("clicks of earlier processes wait for another start", slog.Any("error", err))
		logs = logs[max(0, len(logs)-1):]
	}
	sources := newSources(logs, shelved, cfg.Region)
	pending, err := shelf.quarantine.pending()
	if err != nil {
		cfg.Logger.Error("quarantine not read", slog.Any("error", err))
	}
	now := cfg.now()
	for _, src := range sources {
		if !src.own {
			src.refusals.silent = now // an earlier process may have sent a moment ago
		}
		if p, ok := pending[src.boot]; ok {
			src.held = &p
		}
		delete(pending, src.boot)
	}
	for _, p := range pending { // their logs are gone: the mark has passed them
		if err := shelf.quarantine.keep(p); err != nil {
			cfg.Logger.Error("quarantine not read", slog.Any("error", err))
		}
	}
	return sources
}
