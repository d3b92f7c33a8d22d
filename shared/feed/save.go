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

// Save copies the table. Each shard's part comes from one state, applied before
// base and floors: what is restored never claims a position whose floors it
// lacks. It is safe beside readers and the writer.
func (t *Table) Save(config *Config) *Saved {
	saved := &Saved{Config: config, table: NewTable(int(t.slots), t.seed)} //nolint:gosec // came from an int
	for n := range t.shard {
		s := t.shard[n].state.Load()
		if s == nil {
			continue
		}
		saved.Epoch = max(saved.Epoch, s.epoch)
		saved.table.storeState(n, t.copyState(n, s))
	}
	return saved
}

func (t *Table) copyState(n int, s *state) *state {
	to := t.newState(n, s.epoch)
	to.copyApplied(s)
	to.copyBase(s)
	to.copyChanged(s)
	to.copyCreated(s)
	return to
}

// The single loads of a save, in their order.
func (s *state) copyApplied(from *state) { s.storeApplied(from.applied.Load()) }
func (s *state) copyBase(from *state)    { s.storeBase(from.base.Load()) }
func (s *state) copyChanged(from *state) { copyFloors(s, from, (*slot).ofChanged) }
func (s *state) copyCreated(from *state) { copyFloors(s, from, (*slot).ofCreated) }

func (s *slot) ofChanged() *atomic.Uint64 { return &s.changed }
func (s *slot) ofCreated() *atomic.Uint64 { return &s.created }

// copyFloors copies to fresh floors, which are 0, as most are.
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

// Append appends the saved bytes: format, seed, slots, the shards, the config,
// and their CRC (Castagnoli) at the end.
func (s *Saved) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, format)
	dst = binary.BigEndian.AppendUint64(dst, s.table.seed)
	dst = binary.BigEndian.AppendUint64(dst, s.table.slots)
	for n := range s.table.shard {
		dst = appendState(dst, s.table.shard[n].state.Load())
	}
	dst = append(dst, s.Config.bytes()...) // to the end: it has no bound of its own
	return binary.BigEndian.AppendUint32(dst, checksum(dst[start:]))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// appendState writes most floors, which are 0 or far below applied, in a few
// bytes each.
func appendState(dst []byte, s *state) []byte {
	if s == nil {
		return binary.AppendUvarint(dst, 0) // no epoch is 0
	}
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

// ParseSaved reads what Append wrote. The error is ErrFormat, also where the
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
