package feed

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"sync/atomic"
)

// Saved is a table's content as an edge keeps it over a restart, with the
// config shard's rows.
type Saved struct {
	Epoch  uint64
	Config *Config // nil: it was not held
	table  *Table
}

// Append appends the table as ParseSaved reads it: format, seed, slots, the shards,
// the config, and their CRC (Castagnoli) at the end. Each shard's part comes from
// one state, applied before base and floors: what is restored never claims a
// position whose floors it lacks. The config is asked for when the shards have been
// read: it is stored before its position is applied, so it is never behind the
// position that is saved. rest is called between shards. It is safe beside readers
// and the writer.
func (t *Table) Append(dst []byte, config func() *Config, rest func()) []byte {
	start := len(dst)
	dst = append(dst, format)
	dst = binary.BigEndian.AppendUint64(dst, t.seed)
	dst = binary.BigEndian.AppendUint64(dst, t.slots)
	copied := t.newState(0, 0)
	for n := range t.shard {
		if s := t.shard[n].state.Load(); s != nil {
			copied.copyState(s)
			dst = appendState(dst, copied)
		} else {
			dst = binary.AppendUvarint(dst, 0) // no epoch is 0
		}
		rest()
	}
	dst = append(dst, config().bytes()...) // to the end: it has no bound of its own
	return binary.BigEndian.AppendUint32(dst, checksum(dst[start:]))
}

// copyState makes it the same as a state that may change meanwhile, with the memory that
// it has.
func (s *state) copyState(from *state) {
	s.epoch, s.slots = from.epoch, s.slots[:len(from.slots)]
	clear(s.slots)
	s.copyApplied(from)
	s.copyBase(from)
	s.copyChanged(from)
	s.copyCreated(from)
}

// The single loads of a save, in their order.
func (s *state) copyApplied(from *state) { s.storeApplied(from.applied.Load()) }
func (s *state) copyBase(from *state)    { s.storeBase(from.base.Load()) }
func (s *state) copyChanged(from *state) { copyFloors(s, from, (*slot).ofChanged) }
func (s *state) copyCreated(from *state) { copyFloors(s, from, (*slot).ofCreated) }

func (s *slot) ofChanged() *atomic.Uint64 { return &s.changed }
func (s *slot) ofCreated() *atomic.Uint64 { return &s.created }

// copyFloors copies to floors that are 0, as most are.
func copyFloors(to, from *state, floor func(*slot) *atomic.Uint64) {
	for i := range from.slots {
		if v := floor(&from.slots[i]).Load(); v != 0 {
			floor(&to.slots[i]).Store(v)
		}
	}
}

// savedFloors are the floors in the order of the file: all of one kind, then all
// of the other.
func savedFloors() [2]func(*slot) *atomic.Uint64 {
	return [...]func(*slot) *atomic.Uint64{(*slot).ofChanged, (*slot).ofCreated}
}

// Restore makes the table that was saved: it takes up at the saved positions,
// with all floors and without leases.
func (s *Saved) Restore() *Table { return s.table }

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// appendState writes most floors, which are 0 or far below applied, in a few
// bytes each.
func appendState(dst []byte, s *state) []byte {
	dst = binary.AppendUvarint(dst, s.epoch)
	dst = binary.AppendUvarint(dst, s.applied.Load())
	dst = binary.AppendUvarint(dst, s.base.Load())
	for _, floor := range savedFloors() {
		for i := range s.slots {
			dst = binary.AppendUvarint(dst, floor(&s.slots[i]).Load())
		}
	}
	return dst
}

// ParseSaved reads what Table.Append wrote. The error is ErrFormat, also where the
// table is of another size: such a file is as none.
func ParseSaved(b []byte, slots int) (*Saved, error) {
	if len(b) < 4 {
		return nil, ErrFormat
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	r := reader{s: string(body)}
	if checksum(body) != sum || r.u8() != format {
		return nil, ErrFormat
	}
	seed, size := r.u64(), r.u64()
	if size > math.MaxInt32 || int(size) != slots {
		return nil, ErrFormat
	}
	saved := &Saved{table: NewTable(slots, seed)}
	for n := range saved.table.shard {
		if s := r.state(saved.table, n); s != nil {
			saved.Epoch = max(saved.Epoch, s.epoch)
			saved.table.storeState(n, s)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if r.s != "" {
		var err error
		if saved.Config, err = ParseConfig([]byte(r.s)); err != nil {
			return nil, err
		}
	}
	return saved, nil
}

func (r *reader) state(t *Table, n int) *state {
	epoch := r.uvarint()
	if epoch == 0 {
		return nil
	}
	s := t.newState(n, epoch)
	s.storeApplied(r.uvarint())
	s.storeBase(r.uvarint())
	for _, floor := range savedFloors() {
		for i := range s.slots {
			if v := r.uvarint(); v != 0 {
				floor(&s.slots[i]).Store(v)
			}
		}
	}
	return s
}
