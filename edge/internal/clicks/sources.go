package clicks

import (
	"math"
	"slices"
	"strings"

	"waypost/edge/internal/clicks/spool"
)

// newSources lists what there is to ship: logs with their stored stretches, and
// stored stretches whose log is gone. The region is of those that say none.
func newSources(logs []*spool.Log, shelf shelf, region string) ([]*source, error) {
	shelved, err := shelf.list()
	if err != nil {
		return nil, err
	}
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
	return all, nil
}
