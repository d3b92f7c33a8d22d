package feed

import (
	"encoding/binary"

	"waypost/shared/link"
)

// Heads answers a probe: the last position of every shard, read from the
// primary in one statement, after the probe arrived.
type Heads struct {
	Epoch uint64
	Now   int64 // PostgreSQL's clock at the read, microseconds since 1970
	Bound int64 // B: how old an unmarked answer may be, microseconds
	Seq   [AllShards]uint64

	// Salts are those of the days that the answer may be used on, at most
	// MaxSalts, in ascending order of days; none where nobody counts visitors.
	Salts []Salt
}

// Append appends the heads' bytes.
func (h *Heads) Append(dst []byte) []byte {
	dst = append(dst, format)
	dst = binary.BigEndian.AppendUint64(dst, h.Epoch)
	dst = i64(dst, h.Now)
	dst = i64(dst, h.Bound)
	for _, seq := range h.Seq {
		dst = binary.AppendUvarint(dst, seq)
	}
	return appendSalts(dst, h.Salts)
}

// ParseHeads reads what Append wrote. The error is ErrFormat.
func ParseHeads(b []byte) (*Heads, error) {
	r := reader{s: string(b)}
	if r.u8() != format {
		return nil, ErrFormat
	}
	h := &Heads{Epoch: r.u64(), Now: r.i64(), Bound: r.i64()}
	for i := range h.Seq {
		h.Seq[i] = r.uvarint()
	}
	h.Salts = r.salts()
	if err := r.end(); err != nil {
		return nil, err
	}
	return h, nil
}

// Changes answers "what came after position from in this shard": contiguous
// changes from+1, from+2, … as far as the answer's bound allows, or Reset when
// they are no longer kept (or from lies beyond the head).
type Changes struct {
	Epoch uint64
	Shard int
	Head  uint64 // last position of the shard, read in the same snapshot
	Reset bool
	Rows  []*Change
}

// MaxChanges bounds the rows of one answer.
const MaxChanges = 512

// Append appends the answer's bytes.
func (c *Changes) Append(dst []byte) []byte {
	var reset byte
	if c.Reset {
		reset = 1
	}
	dst = append(dst, format)
	dst = binary.BigEndian.AppendUint64(dst, c.Epoch)
	dst = append(dst, byte(c.Shard), reset) //nolint:gosec // below AllShards
	dst = binary.AppendUvarint(dst, c.Head)
	dst = binary.AppendUvarint(dst, uint64(len(c.Rows)))
	for _, row := range c.Rows {
		dst = row.Append(dst)
	}
	return dst
}

// ParseChanges reads what Append wrote. The error is ErrFormat.
func ParseChanges(b []byte) (*Changes, error) {
	r := reader{s: string(b)}
	if r.u8() != format {
		return nil, ErrFormat
	}
	c := &Changes{Epoch: r.u64(), Shard: int(r.u8()), Reset: r.u8() != 0, Head: r.uvarint()}
	n := r.uvarint()
	if n > MaxChanges || c.Shard >= AllShards {
		return nil, ErrFormat
	}
	for range n {
		c.Rows = append(c.Rows, r.change())
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return c, nil
}

// Codes is one page of all keys of a shard, tombstones included, in key order:
// what a Bloom filter is rebuilt from. Keys travel as their hashes, since the
// filter's bits derive from nothing else.
type Codes struct {
	Epoch  uint64
	Head   uint64   // last position of the shard, read with this page
	Hashes []uint64 // link.Key.Hash of each key
	Last   link.Key // the page's last key: "after" of the next request
	More   bool
}

// MaxCodes bounds the hashes of one page.
const MaxCodes = 8192

// Append appends the page's bytes.
func (c *Codes) Append(dst []byte) []byte {
	var more byte
	if c.More {
		more = 1
	}
	dst = append(dst, format)
	dst = binary.BigEndian.AppendUint64(dst, c.Epoch)
	dst = binary.AppendUvarint(dst, c.Head)
	dst = append(dst, more)
	dst = appendString(dst, c.Last.Domain)
	dst = appendString(dst, c.Last.Code)
	dst = binary.AppendUvarint(dst, uint64(len(c.Hashes)))
	for _, h := range c.Hashes {
		dst = binary.BigEndian.AppendUint64(dst, h)
	}
	return dst
}

// ParseCodes reads what Append wrote. The error is ErrFormat.
func ParseCodes(b []byte) (*Codes, error) {
	r := reader{s: string(b)}
	if r.u8() != format {
		return nil, ErrFormat
	}
	c := &Codes{Epoch: r.u64(), Head: r.uvarint(), More: r.u8() != 0}
	c.Last = link.Key{Domain: r.string(), Code: r.string()}
	n := r.uvarint()
	if n > MaxCodes {
		return nil, ErrFormat
	}
	c.Hashes = make([]uint64, n)
	for i := range c.Hashes {
		c.Hashes[i] = r.u64()
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return c, nil
}
