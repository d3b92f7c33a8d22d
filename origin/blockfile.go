package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/settings"
)

// reloadEvery is how often the block file is looked at.
const reloadEvery = 2 * time.Second

// blockFile is the operator's list of blocked hosts. Its methods are for one
// goroutine.
type blockFile struct {
	path string // "": there is none, and nothing is said of what another origin's has blocked
	seen fileStamp
	read links.BlockFile // as it was last read without a fault

	short bool // there was no room for all of it
}

type fileStamp struct {
	modified time.Time
	size     int64
}

// openBlockFile reads the file, if there is to be one. The error is one of
// settings, and names the line that is at fault.
func openBlockFile(path string) (*blockFile, error) {
	f := &blockFile{path: path}
	if path == "" {
		return f, nil
	}
	if err := f.load(); err != nil {
		return nil, &settings.FaultsError{Faults: []settings.Fault{{Name: "WAYPOST_BLOCK_FILE", Problem: err.Error()}}}
	}
	return f, nil
}

func (f *blockFile) load() error {
	f.seen = f.stamp() // before reading: a change in between is seen next time
	file, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	read, err := links.ReadBlockFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.read = read
	return nil
}

func (f *blockFile) stamp() fileStamp {
	info, err := os.Stat(f.path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{modified: info.ModTime(), size: info.Size()}
}

// takeBlocks has the store and the edges take over what the file has, however
// long PostgreSQL is away.
func (o *origin) takeBlocks(ctx context.Context, service *links.Service) error {
	if o.blocks.path == "" {
		return nil
	}
	changed := 0
	err := o.retry(ctx, func() error {
		n, err := service.TakeBlockFile(ctx, o.blocks.read)
		changed += n
		return err
	})
	full, told := errors.Is(err, links.ErrFull), o.blocks.short
	o.blocks.short = full
	if err != nil && !full {
		return err
	}
	if full && !told {
		o.logger.LogAttrs(ctx, slog.LevelError, "no room for all of the block file beside the blocks of the API and the domains; the rest is not blocked until there is",
			slog.String("file", o.blocks.path), slog.Int("most", links.MaxBlocks))
	}
	if changed > 0 {
		o.logger.LogAttrs(ctx, slog.LevelInfo, "block file taken over",
			slog.String("file", o.blocks.path), slog.Int("hosts", len(o.blocks.read)), slog.Int("changed", changed), slog.Bool("whole", !full))
	}
	return nil
}

// keepBlocks takes the file over whenever it has changed, and as long as there is
// no room for all of it, until ctx ends. One that cannot be read is one log line
// a change; what was blocked stays so.
func (o *origin) keepBlocks(ctx context.Context, service *links.Service) error {
	if o.blocks.path == "" {
		return nil
	}
	ticker := time.NewTicker(reloadEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		switch changed := o.blocks.stamp() != o.blocks.seen; {
		case changed:
			if err := o.blocks.load(); err != nil {
				o.logger.LogAttrs(ctx, slog.LevelError, "block file not taken over, the last good one stays", slog.Any("error", err))
				continue
			}
		case !o.blocks.short:
			continue
		}
		if err := o.takeBlocks(ctx, service); err != nil {
			return err
		}
	}
}
