package redirect

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"waypost/edge/internal/l1"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// BenchmarkRule is a hit from its key's hash to its marking, with the rule and without what the rule loads and compares.
// The clock, which a request reads once with or without it, is in neither. Many keys show what the loads cost where the
// floors are not in the processor's nearest cache.
func BenchmarkRule(b *testing.B) {
	for _, n := range []int{1, 4096} {
		name := fmt.Sprintf("%d keys", n)
		if n == 1 {
			name = "one key"
		}
		h := newHits(b, n)
		b.Run(name+"/with", func(b *testing.B) {
			ctx := b.Context()
			b.ReportAllocs()
			for i := 0; b.Loop(); i = (i + 1) % n {
				a, err := h.Resolve(ctx, "", h.codes[i], h.hashes[i])
				if err != nil || a.Tier != L1 {
					b.Fatal(a.Tier, err)
				}
				if how, _ := h.Mark(a, h.now); how != Unmarked {
					b.Fatal(how)
				}
			}
		})
		b.Run(name+"/without", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i = (i + 1) % n {
				a, err := h.unruled("", h.codes[i], h.hashes[i])
				if err != nil || a.Tier != L1 {
					b.Fatal(a.Tier, err)
				}
			}
		})
	}
}

// hits is a resolver that holds some entries, all fresh, under a table as an edge has it.
type hits struct {
	*Resolver
	codes  [][]byte
	hashes []uint64
	now    feed.Instant
}

func newHits(b *testing.B, n int) *hits {
	b.Helper()
	const head = 10
	cache, err := l1.New(64 << 20)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cache.Close)
	table := feed.NewTable(feed.Slots, 7)
	for shard := range feed.AllShards {
		table.Reset(shard, 1, head)
		table.Answer(shard, 1, boot, head)
	}
	var lasts atomic.Int64 // B, which the follower hands out in this way
	lasts.Store(int64(bound))
	h := &hits{now: boot + feed.Instant(bound/2), Resolver: New(Config{
		Table: table, L1: cache, MaxFills: 1, Cap: time.Hour, Timeout: time.Second,
		Bound: func() time.Duration { return time.Duration(lasts.Load()) },
	})}
	for i := range n {
		k := link.Key{Code: fmt.Sprintf("code%03d", i)}
		h.codes, h.hashes = append(h.codes, []byte(k.Code)), append(h.hashes, k.Hash())
		cache.Store(k.Hash(), &feed.Entry{Epoch: 1, AsOf: head, Version: 5, Key: k, Body: feed.Body{State: feed.Enabled, Status: 302, Target: "https://example.com/"}})
		cache.Wait()
	}
	return h
}

// unruled is Resolve's way to a hit without the rule.
//
//go:noinline
func (h *hits) unruled(domain string, code []byte, hash uint64) (Answer, error) {
	if held := h.l1.Entry(domain, code, hash); held != nil {
		return Answer{Entry: held, Tier: L1}, nil
	}
	return Answer{}, ErrUnready
}
