package postgres

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// damaged names a packed value that cannot be read. What it says is counted
// without it, or as click.Other: a link's counters go on, whatever has become of
// one of its columns.
type damaged struct {
	column string // and its table
	link   int64
	at     int64 // seconds since 1970: the row's day or hour; 0 where there is one row a link
}

// maxTold bounds the damaged values that are remembered to be told once.
const maxTold = 10_000

// damages tells of damaged values, each once. It is safe for concurrent use.
type damages struct {
	logger *slog.Logger
	found  atomic.Uint64

	mu   sync.Mutex
	told map[damaged]struct{}
}

func newDamages(logger *slog.Logger) *damages {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &damages{logger: logger, told: make(map[damaged]struct{})}
}

// tell counts and logs those that were not told before, as long as there are no
// more than are remembered.
func (d *damages) tell(ctx context.Context, all []damaged) {
	for _, v := range all {
		if !d.remember(v) {
			continue
		}
		d.found.Add(1)
		attrs := []slog.Attr{slog.String("column", v.column), slog.Int64("link", v.link)}
		if v.at != 0 {
			attrs = append(attrs, slog.Time("of", time.Unix(v.at, 0).UTC()))
		}
		d.logger.LogAttrs(ctx, slog.LevelError, "counters of clicks are damaged and go on without", attrs...)
	}
}

func (d *damages) remember(v damaged) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, told := d.told[v]; told || len(d.told) >= maxTold {
		return false
	}
	d.told[v] = struct{}{}
	return true
}
