package links

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// MaxBlocks is how many blocked hosts there may be, by file and API together:
// edges hold them all in memory.
const MaxBlocks = 10_000

// The kinds of blocks.
const (
	BlockExact  = "exact"  // the host
	BlockSuffix = "suffix" // and every host below it
)

// ErrByFile refuses to unblock a host through the API that the operator's file
// blocks.
var ErrByFile = errors.New("the operator's file blocks the host")

// Block is a host that no link may lead to. A host may have two: one of each
// source.
type Block struct {
	Host   string // as link.ParseHost returns it
	Kind   string
	Note   string
	Source feed.BlockSource
	At     time.Time // when it was made
}

// BlockInput is a wished block. Values are as sent.
type BlockInput struct {
	Host Field[string]
	Kind Field[string] // exact (default) or suffix
	Note Field[string]
}

// WrittenBlock is a block as a write left it.
type WrittenBlock struct {
	Block   Block
	New     bool // there was none of the API for the host
	Receipt Receipt
}

// PutBlock blocks a host, or gives its block another kind and note. Errors:
// *link.InvalidError, ErrFull, link.ErrUnavailable.
func (s *Service) PutBlock(ctx context.Context, in *BlockInput, ack Ack) (WrittenBlock, error) {
	b, err := in.block()
	if err != nil {
		return WrittenBlock{}, err
	}
	var written WrittenBlock
	row, receipt, err := s.writeRow(ctx, ConfigMutation{
		Row: feed.BlockRow(feed.BlockByAPI, b.Host), Most: MaxBlocks,
		Merge: func(old *ConfigRow, now time.Time) (string, error) {
			written.New, b.At = old == nil, feed.Micros(now)
			if old != nil {
				b.At = readBlock(old.Value).At
			}
			return encodeBlock(b)
		},
	}, ack)
	if err != nil {
		return WrittenBlock{}, err
	}
	written.Block, written.Receipt = blockOf(&row), receipt
	return written, nil
}

// block checks the input.
func (in *BlockInput) block() (*feed.Block, error) {
	var f faults
	b := &feed.Block{}
	kind := BlockExact
	fresh := rules{fresh: true}
	if !in.Host.given() {
		f.add("host", "is required")
	}
	take(&f, fresh, "host", in.Host, "", parseBlockHost, &b.Host)
	take(&f, fresh, "kind", in.Kind, BlockExact, parseBlockKind, &kind)
	take(&f, fresh, "note", in.Note, "", parseTitle, &b.Note)
	b.Suffix = kind == BlockSuffix
	if b.Suffix && link.IsAddress(b.Host) {
		f.add("kind", "must be exact for an address: no host is below it")
	}
	return b, f.err()
}

// parseBlockHost is link.ParseHost, which takes no pattern: the way to say what
// one means is another here than in a block file.
func parseBlockHost(s string) (string, error) {
	host, err := link.ParseHost(s)
	if name, pattern := strings.CutPrefix(strings.TrimPrefix(s, "*"), "."); err != nil && pattern {
		if below, err := link.ParseHost(name); err == nil && !link.IsAddress(below) {
			return "", errors.New(`must be a host alone: to block all hosts below it too, give the kind suffix instead of "*."`)
		}
	}
	return host, err
}

func parseBlockKind(s string) (string, error) {
	return s, unless(s == BlockExact || s == BlockSuffix, "must be exact or suffix")
}

// DeleteBlock unblocks a host, as far as the API has blocked it. What is no host
// is link.ErrNotFound. Errors: link.ErrNotFound, ErrByFile, link.ErrUnavailable.
func (s *Service) DeleteBlock(ctx context.Context, host string, ack Ack) (Receipt, error) {
	host, err := link.ParseHost(host)
	if err != nil {
		return Receipt{}, link.ErrNotFound
	}
	_, receipt, err := s.writeRow(ctx, ConfigMutation{
		Row: feed.BlockRow(feed.BlockByAPI, host),
		Merge: func(old *ConfigRow, _ time.Time) (string, error) {
			if old == nil {
				return "", link.ErrNotFound
			}
			return "", nil
		},
	}, ack)
	if errors.Is(err, link.ErrNotFound) {
		return Receipt{}, s.notByAPI(ctx, host)
	}
	return receipt, err
}

// Block returns the block of a host: that of the API, or else that of the
// operator's file. What is no host is link.ErrNotFound. Errors: link.ErrNotFound,
// link.ErrUnavailable.
func (s *Service) Block(ctx context.Context, host string) (Block, error) {
	host, err := link.ParseHost(host)
	if err != nil {
		return Block{}, link.ErrNotFound
	}
	for _, source := range []feed.BlockSource{feed.BlockByAPI, feed.BlockByFile} {
		row, blocked, err := s.row(ctx, feed.BlockRow(source, host))
		switch {
		case err != nil:
			return Block{}, err
		case blocked:
			return blockOf(&row), nil
		}
	}
	return Block{}, link.ErrNotFound
}

// notByAPI says why there is no block of the API to delete.
func (s *Service) notByAPI(ctx context.Context, host string) error {
	_, byFile, err := s.row(ctx, feed.BlockRow(feed.BlockByFile, host))
	switch {
	case err != nil:
		return err
	case byFile:
		return ErrByFile
	}
	return link.ErrNotFound
}

// Blocks lists up to limit blocks, those of the API first, each by host, after
// one; the zero Place starts. next is where another page begins; the zero Place
// if there is none. Error: link.ErrUnavailable.
func (s *Service) Blocks(ctx context.Context, after Place, limit int) (found []Block, next Place, err error) {
	rows, err := s.config.ConfigRows(ctx, feed.BlockPrefix, feed.BlockPrefix+after.Name, limit+1)
	if err != nil {
		return nil, Place{}, err
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = Place{Started: true, Name: strings.TrimPrefix(rows[limit-1].Name, feed.BlockPrefix)}
	}
	for i := range rows {
		found = append(found, blockOf(&rows[i]))
	}
	return found, next, nil
}

func blockOf(r *ConfigRow) Block {
	source, _, _ := strings.Cut(strings.TrimPrefix(r.Name, feed.BlockPrefix), "/")
	b := readBlock(r.Value)
	block := Block{Host: b.Host, Kind: BlockExact, Note: b.Note, Source: feed.BlockSource(source), At: time.UnixMicro(b.At).UTC()}
	if b.Suffix {
		block.Kind = BlockSuffix
	}
	return block
}

// readBlock reads a value that this package wrote.
func readBlock(value string) (b feed.Block) {
	_ = json.Unmarshal([]byte(value), &b) // what is not as it should be is left out
	return b
}

func encodeBlock(b *feed.Block) (string, error) {
	value, err := encode(b)
	if err != nil {
		return "", fmt.Errorf("block of %s: %w", b.Host, err)
	}
	return string(value), nil
}
