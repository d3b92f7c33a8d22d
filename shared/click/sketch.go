package click

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/axiomhq/hyperloglog"
)

// ExactVisitors is how many visitors a sketch tells apart exactly.
const ExactVisitors = 1_000

// Sketch is a set of visitors: the hashes themselves up to ExactVisitors, and
// beyond that a dense HyperLogLog of 2^14 registers with a standard error of
// 0.8 %. Which of the two it is, and every byte of it, depends on the set
// alone and not on the order or number of times in which it was put together:
// Merge is idempotent, commutative and associative. (The library's own sparse
// form has no such promise, which is why it is not used.)
//
// The zero value is the empty set. No method is safe for concurrent use, nor
// the ones that only read; a copy shares the memory of its original.
type Sketch struct {
	hashes    []uint64
	settled   int                 // hashes[:settled] is sorted and without repeats
	registers *hyperloglog.Sketch // nil up to ExactVisitors
}

// Add puts a visitor's hash, which must be spread evenly over 64 bits, into the
// set. 0 is nobody.
func (s *Sketch) Add(visitor uint64) {
	switch {
	case visitor == 0:
	case s.registers != nil:
		s.registers.InsertHash(visitor)
	default:
		s.hashes = append(s.hashes, visitor)
		if len(s.hashes) >= max(64, 2*s.settled) {
			s.settle()
		}
	}
}

// Merge puts the visitors of another sketch into this one.
func (s *Sketch) Merge(other *Sketch) {
	if other.registers == nil {
		for _, visitor := range other.hashes {
			s.Add(visitor)
		}
		return
	}
	if s.registers == nil {
		hashes := s.hashes
		*s = Sketch{registers: other.registers.Clone()}
		for _, visitor := range hashes {
			s.registers.InsertHash(visitor)
		}
		return
	}
	// It fails for different precisions only, and there is one here.
	_ = s.registers.Merge(other.registers)
}

// Count is the number of visitors.
func (s *Sketch) Count() uint64 {
	if s.settle(); s.registers != nil {
		return s.registers.Estimate()
	}
	return uint64(len(s.hashes))
}

// Reset empties the set and keeps its memory.
func (s *Sketch) Reset() { *s = Sketch{hashes: s.hashes[:0]} }

func (s *Sketch) empty() bool { return s.registers == nil && len(s.hashes) == 0 }

// Size bounds the bytes that Append appends.
func (s *Sketch) Size() int {
	if s.registers != nil {
		return 1 + registersSize
	}
	return 3 + 8*len(s.hashes)
}

// settle sorts what was added, and goes over to registers where there is too
// much of it.
func (s *Sketch) settle() {
	if s.settled == len(s.hashes) {
		return
	}
	slices.Sort(s.hashes[s.settled:])
	s.hashes = slices.Compact(mergeRuns(s.hashes, s.settled))
	s.settled = len(s.hashes)
	if s.settled <= ExactVisitors {
		return
	}
	registers := hyperloglog.NewNoSparse()
	for _, visitor := range s.hashes {
		registers.InsertHash(visitor)
	}
	*s = Sketch{registers: registers}
}

// mergeRuns sorts what is sorted up to an index and from there on.
func mergeRuns(all []uint64, at int) []uint64 {
	if at == 0 {
		return all
	}
	n := len(all)
	all = append(all, all[at:]...) // the second run waits behind the end
	second := all[n:]
	for i, j := at-1, len(second)-1; j >= 0; n-- {
		if i >= 0 && all[i] > second[j] {
			all[n-1] = all[i]
			i--
		} else {
			all[n-1] = second[j]
			j--
		}
	}
	return all[:len(all)-len(second)]
}

// The two forms of a sketch on the wire.
const (
	sketchExact     = 0 // number of hashes, hashes ascending
	sketchRegisters = 1 // the library's bytes: a header, and a byte a register
)

const (
	sketchHeader  = 8
	registersSize = sketchHeader + 1<<14
)

// registersHeader begins the library's bytes of a dense sketch: version 2,
// precision 14, no bias, dense, 2^14 registers.
func registersHeader() [sketchHeader]byte { return [...]byte{2, 14, 0, 0, 0, 0, 1 << 6, 0} }

// Append appends the sketch's bytes: the same ones for the same set.
func (s *Sketch) Append(dst []byte) []byte {
	if s.settle(); s.registers != nil {
		// It fails for sketches without a precision only.
		dst, _ = s.registers.AppendBinary(append(dst, sketchRegisters))
		return dst
	}
	dst = append(dst, sketchExact)
	dst = binary.AppendUvarint(dst, uint64(len(s.hashes)))
	for _, visitor := range s.hashes {
		dst = binary.BigEndian.AppendUint64(dst, visitor)
	}
	return dst
}

// ParseSketch reads what Append wrote. The error wraps ErrFormat.
func ParseSketch(b []byte) (Sketch, error) {
	r := reader{b: b}
	s := r.sketch()
	if err := r.end(); err != nil {
		return Sketch{}, fmt.Errorf("sketch of %d bytes: %w", len(b), err)
	}
	return s, nil
}

func (r *reader) sketch() Sketch {
	switch r.u8() {
	case sketchExact:
		return r.exactSketch()
	case sketchRegisters:
		header := registersHeader()
		registers := new(hyperloglog.Sketch)
		if len(r.b) < registersSize || [sketchHeader]byte(r.b) != header ||
			registers.UnmarshalBinary(r.b[:registersSize]) != nil {
			break
		}
		r.b = r.b[registersSize:]
		return Sketch{registers: registers}
	}
	r.fail()
	return Sketch{}
}

func (r *reader) exactSketch() Sketch {
	n := r.size(8)
	if n > ExactVisitors {
		r.fail()
	}
	if n == 0 || r.err != nil {
		return Sketch{}
	}
	s := Sketch{hashes: make([]uint64, n), settled: n}
	before := uint64(0)
	for i := range s.hashes {
		visitor := r.u64()
		if visitor <= before {
			r.fail()
			return Sketch{}
		}
		s.hashes[i], before = visitor, visitor
	}
	return s
}
