package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"waypost/edge/internal/clicks"
	"waypost/edge/internal/clicks/spool"
	"waypost/edge/internal/fill"
)

// counting is what counts clicks; nil where none are counted.
type counting struct {
	*clicks.Counter
	spool *spool.Spool // nil: clicks are counted in memory alone
}

// openCounting finds what earlier runs left to be shipped. Two edges on one
// folder are an error; a disk on which nothing can be opened is a line in the
// log, since redirects do not depend on it.
func openCounting(cfg *config, origins *fill.Client, clock func() int64, logger *slog.Logger) (*counting, error) {
	if cfg.Clicks == "off" {
		return nil, nil //nolint:nilnil // nothing is counted
	}
	c := &counting{}
	dir := filepath.Join(cfg.StateDir, "clicks")
	folded, quarantine := filepath.Join(dir, "folded"), filepath.Join(dir, "quarantine")
	if cfg.StateDir == "" {
		logger.Warn("clicks are counted in memory alone, and lost with the process until an origin has taken them",
			slog.String("missing", "WAYPOST_STATE_DIR"))
	} else {
		var err error
		c.spool, err = spool.Open(spool.Config{
			Dir: dir, Label: cfg.Region, SegmentBytes: segmentBytes(cfg), Group: cfg.ClicksSync == "group", Logger: logger,
		})
		if errors.Is(err, spool.ErrInUse) {
			return nil, err
		}
		if err != nil {
			logger.Error("clicks are counted in memory alone, and lost with the process until an origin has taken them",
				slog.Any("error", err))
		}
	}
	if c.spool == nil {
		folded, quarantine = "", ""
	}
	c.Counter = clicks.New(clicks.Config{
		Spool: c.spool, Origin: origins, Folder: folded, Quarantine: quarantine, Region: cfg.Region, Disk: int64(cfg.ClicksDisk),
		Clock: clock, Logger: logger,
	})
	return c, nil
}

// segmentBytes leaves room for several segments on the disk that clicks may take:
// the last one cannot be given up, whatever is shipped or folded.
func segmentBytes(cfg *config) int64 { return min(64<<20, int64(cfg.ClicksDisk)/8) }

// Run counts until ctx ends and returns when what could not be shipped by then
// is written. It must outlive every request.
func (c *counting) Run(ctx context.Context) error {
	if c.spool == nil {
		return c.Counter.Run(ctx)
	}
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	written := make(chan error, 1)
	go func() { written <- c.spool.Run(writing) }()
	err := c.Counter.Run(ctx) // its last orphans still go to the spool
	stop()
	return errors.Join(err, <-written)
}

// close lets the folder go.
func (c *counting) close() {
	if c != nil && c.spool != nil {
		_ = c.spool.Close() // fails only while the disk hangs, and then the process' end lets it go
	}
}
