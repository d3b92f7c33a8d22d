package feed

import (
	"encoding/binary"
	"iter"
	"sync/atomic"

	"waypost/shared/link"
)

// Blocks is the list of hosts that no link may lead to, at one position of the
// config shard. It is immutable; nil is the empty list.
type Blocks struct {
	epoch, seq uint64 // of the change that made it what it is, or at which it was read whole
	hosts      paged[link.Site, blockBits]
}

func newBlocks(epoch, seq uint64, hosts paged[link.Site, blockBits]) *Blocks {
	if hosts.n == 0 {
		return nil
	}
	return &Blocks{epoch: epoch, seq: seq, hosts: hosts}
}

// with is the list after a change of a source's row of a host; block is nil if
// the row is no more.
func (b *Blocks) with(epoch, seq uint64, host string, source BlockSource, block *Block) *Blocks {
	var hosts paged[link.Site, blockBits]
	if b != nil {
		hosts = b.hosts
	}
	site := siteOf(host)
	before, _ := hosts.value(siteHash(site), site)
	if bits := before&^source.mask() | block.bits(source); bits == 0 {
		hosts = hosts.without(siteHash(site), site)
	} else {
		hosts = hosts.with(siteHash(site), site, bits)
	}
	return newBlocks(epoch, seq, hosts)
}

// siteOf is that of the host itself, the first of its sites.
func siteOf(host string) (site link.Site) {
	for site = range link.Sites(host) {
		break
	}
	return site
}

// siteHash places a site in a paged map.
func siteHash(site link.Site) uint64 { return binary.BigEndian.Uint64(site[:]) }

// Blocks is the config's list; nil of a config that is not held.
func (cfg *Config) Blocks() *Blocks {
	if cfg == nil {
		return nil
	}
	return cfg.blocks
}

// Blocked reports whether no link may lead to the host, which is one as
// link.TargetHost returns it.
func (b *Blocks) Blocked(host string) bool {
	return b != nil && host != "" && b.any(link.Sites(host))
}

// any reports whether the first site has a row, or a later one has one for all
// that is below it.
func (b *Blocks) any(sites iter.Seq[link.Site]) bool {
	counts := ^blockBits(0)
	for site := range sites {
		if bits, _ := b.hosts.value(siteHash(site), site); bits&counts != 0 {
			return true
		}
		counts = anySuffix
	}
	return false
}

// Judgement says which URLs of a link lead to a blocked host.
type Judgement uint8

// The bits of a Judgement.
const (
	TargetBlocked Judgement = 1 << iota
	ExpiredURLBlocked

	judgementBits = 3 // with one that is always set in what an entry keeps
	judgedBit     = 1 << (judgementBits - 1)
)

// Judge says what of an entry is blocked. The entry keeps the answer for the next
// time: as long as the list stays the same, that costs one load, and nothing
// where the list is empty. Safe for concurrent use.
func (b *Blocks) Judge(e *Entry) Judgement {
	if b == nil || e.State == Absent {
		return 0
	}
	// Within an epoch a position names one list. Where the epoch is another, an
	// edge is about to fetch the config of that.
	if e.Epoch != b.epoch {
		return b.judge(e)
	}
	kept := atomic.LoadUint64(&e.judged)
	if kept>>judgementBits == b.seq && kept&judgedBit != 0 {
		return Judgement(kept) & (TargetBlocked | ExpiredURLBlocked) //nolint:gosec // its low bits
	}
	j := b.judge(e)
	atomic.StoreUint64(&e.judged, b.seq<<judgementBits|judgedBit|uint64(j))
	return j
}

func (b *Blocks) judge(e *Entry) (j Judgement) {
	if b.Blocked(link.TargetHost(e.Target)) || e.Sites != "" && b.any(unpackSites(e.Sites)) {
		j |= TargetBlocked
	}
	if b.Blocked(link.TargetHost(e.ExpiredURL)) {
		j |= ExpiredURLBlocked
	}
	return j
}

const siteSize = len(link.Site{})

// PackSites is Body's Sites for a target.
func PackSites(target string) string {
	var packed []byte
	if host := link.TargetHost(target); host != "" {
		for site := range link.Sites(host) {
			packed = append(packed, site[:]...)
		}
	}
	return string(packed)
}

func unpackSites(packed string) iter.Seq[link.Site] {
	return func(yield func(link.Site) bool) {
		for ; len(packed) >= siteSize; packed = packed[siteSize:] {
			var site link.Site
			if copy(site[:], packed); !yield(site) {
				return
			}
		}
	}
}
