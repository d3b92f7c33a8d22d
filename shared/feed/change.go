package feed

import (
	"encoding/binary"

	"waypost/shared/link"
)

// Kind says what a change did.
type Kind uint8

// The kinds. Create is a key that had no row; Changed found one (an update, a
// delete, a re-creation over a tombstone). Purge and PurgeAll carry no value.
const (
	Create Kind = iota + 1
	Changed
	Purge
	PurgeAll
)

// Change is one position of one shard: what is published, and what the outbox
// keeps. Its bytes are the same in both.
type Change struct {
	Epoch uint64
	Shard int
	Seq   uint64 // the position
	Kind  Kind
	At    int64    // PostgreSQL's clock at the write, microseconds since 1970
	Key   link.Key // of a link; on the config shard Domain is empty and Code names the row
	Value string   // Body bytes of a link; JSON on the config shard ("" = row removed); "" for purges
}

// Entry is the entry a change of a link leaves behind, known exact at its
// position. Purges leave none: ok is false. The error is ErrFormat.
func (c *Change) Entry() (e *Entry, ok bool, err error) {
	if c.Shard == ConfigShard || c.Kind != Create && c.Kind != Changed {
		return nil, false, nil
	}
	r := reader{s: c.Value}
	e = &Entry{Epoch: c.Epoch, AsOf: c.Seq, Version: c.Seq, Key: c.Key, Body: r.body()}
	if err := r.end(); err != nil {
		return nil, false, err
	}
	e.settle()
	return e, true, nil
}

// Append appends the change's bytes.
func (c *Change) Append(dst []byte) []byte {
	dst = append(dst, format)
	dst = binary.BigEndian.AppendUint64(dst, c.Epoch)
	dst = append(dst, byte(c.Shard)) //nolint:gosec // below AllShards
	dst = binary.BigEndian.AppendUint64(dst, c.Seq)
	dst = append(dst, byte(c.Kind))
	dst = i64(dst, c.At)
	dst = appendString(dst, c.Key.Domain)
	dst = appendString(dst, c.Key.Code)
	return appendString(dst, c.Value)
}

// ParseChange reads what Append wrote. b is copied once. The error is ErrFormat.
func ParseChange(b []byte) (*Change, error) {
	r := reader{s: string(b)}
	c := r.change()
	if err := r.end(); err != nil {
		return nil, err
	}
	return c, nil
}

func (r *reader) change() *Change {
	if r.u8() != format {
		r.fail()
		return nil
	}
	c := &Change{Epoch: r.u64(), Shard: int(r.u8()), Seq: r.u64(), Kind: Kind(r.u8()), At: r.i64()}
	c.Key = link.Key{Domain: r.string(), Code: r.string()}
	c.Value = r.string()
	if c.Shard >= AllShards || c.Kind < Create || c.Kind > PurgeAll || c.Seq == 0 {
		r.fail()
	}
	return c
}
