package links

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// maxBlockFile bounds a block file, in bytes, maxBlockLine one of its lines.
const (
	maxBlockFile = 4 << 20
	maxBlockLine = 4 << 10
)

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\ufeff"

// BlockFile are the hosts of an operator's file, and whether each stands for all
// below it too.
type BlockFile map[string]bool

// ReadBlockFile reads a block file: a host a line, in ASCII or Unicode; with "."
// or "*." before it, it stands for the hosts below it too. What follows "#" is a
// comment. The error names the line that is at fault.
func ReadBlockFile(r io.Reader) (BlockFile, error) {
	hosts := make(BlockFile)
	limited := &io.LimitedReader{R: r, N: maxBlockFile + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxBlockLine)
	n := 0
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), byteOrderMark), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := hosts.add(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: is longer than %d bytes", n+1, maxBlockLine)
	case err != nil:
		return nil, err
	case limited.N == 0:
		return nil, fmt.Errorf("line %d: the file is larger than %d bytes", n, maxBlockFile)
	}
	return hosts, nil
}

// add takes one line. Of a host that stands there twice the wider block counts.
func (f BlockFile) add(text string) error {
	name, suffix := strings.CutPrefix(text, "*.")
	if !suffix {
		name, suffix = strings.CutPrefix(text, ".")
	}
	host, err := link.ParseHost(name)
	switch {
	case err != nil:
		return fmt.Errorf("%.64q %w", text, err)
	case suffix && link.IsAddress(host):
		return fmt.Errorf("%.64q is an address: no host is below it", text)
	}
	f[host] = f[host] || suffix
	if len(f) > MaxBlocks {
		return fmt.Errorf("the file blocks more than %d hosts", MaxBlocks)
	}
	return nil
}

// TakeBlockFile makes the blocks of the file's source those of the file, in
// batches, and tells how many it has changed, whatever the error. Those that are
// no more go first, so that there is room, and what there is none for keeps
// nothing else from being done; what the API has blocked stays. It may be repeated
// from any point. Errors: ErrFull, once all is done that there was room for;
// link.ErrUnavailable.
func (s *Service) TakeBlockFile(ctx context.Context, file BlockFile) (changed int, err error) {
	gone, wanted, err := s.differing(ctx, file)
	if err != nil {
		return 0, err
	}
	sp := s.spread(AckCommit)
	batches := slices.Collect(slices.Chunk(gone, MaxConfigWrite)) // apart from what comes: there is room once they are committed
	batches = slices.AppendSeq(batches, slices.Chunk(wanted, MaxConfigWrite))
	var refused error
	for _, batch := range batches {
		results, err := s.writeConfig(ctx, sp, batch)
		if err != nil {
			return changed, err
		}
		for _, r := range results {
			switch {
			case r.Err != nil:
				refused = r.Err
			case r.Change != nil:
				changed++
			}
		}
	}
	return changed, refused
}

// differing compares the rows of the file's source with the file. Hosts are in
// order, so that where there is room for some only, all origins choose the same.
func (s *Service) differing(ctx context.Context, file BlockFile) (gone, wanted []ConfigMutation, err error) {
	prefix := feed.BlockRow(feed.BlockByFile, "")
	rows, err := s.config.ConfigRows(ctx, prefix, "", MaxBlocks)
	if err != nil {
		return nil, nil, err
	}
	held := make(map[string]bool, len(rows))
	for i := range rows {
		host := strings.TrimPrefix(rows[i].Name, prefix)
		suffix, blocked := file[host]
		switch {
		case !blocked:
			gone = append(gone, ConfigMutation{
				Row:   rows[i].Name,
				Merge: func(*ConfigRow, time.Time) (string, error) { return "", nil },
			})
		case readBlock(rows[i].Value).Suffix == suffix:
			held[host] = true
		}
	}
	for _, host := range slices.Sorted(maps.Keys(file)) {
		if suffix := file[host]; !held[host] {
			wanted = append(wanted, ConfigMutation{
				Row: prefix + host, Most: MaxBlocks,
				Merge: func(old *ConfigRow, now time.Time) (string, error) {
					b := feed.Block{Host: host, Suffix: suffix, At: feed.Micros(now)}
					if old != nil {
						b.At = readBlock(old.Value).At
					}
					return encodeBlock(&b)
				},
			})
		}
	}
	return gone, wanted, nil
}
