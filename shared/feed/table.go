package feed

import "sync/atomic"

// Slots is the default size of each floor array: two of them for each shard
// make 16 MiB an edge.
const Slots = 16384

// Table holds an edge's state of every shard. Reading is lock-free and safe
// from any goroutine; the methods that move a shard on (Reset, Apply) must be
// called for one shard from one goroutine at a time.
type Table struct {
	seed  uint64
	slots uint64 // a power of two
	shard [AllShards]atomic.Pointer[state]
}

// state is what the edge knows of one shard in one epoch. Only a new epoch
// gets a new state, so a reader that loaded the pointer reads one epoch's
// floors throughout.
type state struct {
	epoch   uint64
	applied atomic.Uint64 // every change up to it is applied, in order, without gaps
	base    atomic.Uint64 // a floor for all keys: what a boot or a reset cannot know

	// Floors, direct-mapped by slot; a store never lowers one.
	changed []atomic.Uint64 // raised by every change that found a row
	created []atomic.Uint64 // raised by creates that found none
}

// NewTable makes a table without any state: nothing is accepted before a
// shard's first Reset. slots must be a power of two; seed is drawn at random so
// that nobody outside can choose codes of one slot.
func NewTable(slots int, seed uint64) *Table {
	if slots <= 0 || slots&(slots-1) != 0 {
		panic("feed: the number of slots is not a power of two")
	}
	return &Table{seed: seed, slots: uint64(slots)}
}

// slot places a key's hash in the floor arrays, independent of the bits that
// chose its shard: the product's high half depends on every bit of the hash,
// and the fold mixes it back down.
func (t *Table) slot(hash uint64) uint64 {
	x := (hash ^ t.seed) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return (x >> 32) & (t.slots - 1)
}

// Position is where a shard stands: its epoch and the last applied position.
// ok is false before the first Reset.
func (t *Table) Position(shard int) (epoch, applied uint64, ok bool) {
	s := t.shard[shard].Load()
	if s == nil {
		return 0, 0, false
	}
	return s.epoch, s.applied.Load(), true
}

// Reset takes a shard to head without the changes in between: at boot, when
// they are no longer kept, and on a newer epoch. Within an epoch the floors
// stay; base is stored before applied, so that no reader sees the position
// without the floor that stands for the changes it skipped. An older epoch, or
// a head not beyond applied, changes nothing.
func (t *Table) Reset(shard int, epoch, head uint64) {
	s := t.shard[shard].Load()
	if s != nil && s.epoch == epoch {
		if head > s.applied.Load() {
			s.base.Store(head)
			s.applied.Store(head)
		}
		return
	}
	if s != nil && s.epoch > epoch {
		return
	}
	fresh := &state{epoch: epoch}
	if shard != ConfigShard {
		fresh.changed = make([]atomic.Uint64, t.slots)
		fresh.created = make([]atomic.Uint64, t.slots)
	}
	fresh.base.Store(head)
	fresh.applied.Store(head)
	t.shard[shard].Store(fresh)
}

// Outcome says what Apply did with a change.
type Outcome uint8

// The outcomes of Apply.
const (
	Applied    Outcome = iota // it was the next one
	Repeated                  // it, or a reset beyond it, was applied before
	Gap                       // changes before it are missing; nothing was done
	OtherEpoch                // the shard is not in the change's epoch; nothing was done
)

// Apply moves the shard on by one change: the floor is raised, then applied is
// stored. A reader that sees the position therefore sees the floor.
func (t *Table) Apply(c *Change) Outcome {
	s := t.shard[c.Shard].Load()
	switch {
	case s == nil || s.epoch != c.Epoch:
		return OtherEpoch
	case c.Seq <= s.applied.Load():
		return Repeated
	case c.Seq > s.applied.Load()+1:
		return Gap
	}
	if c.Shard != ConfigShard {
		t.raiseFloor(s, c)
	}
	s.applied.Store(c.Seq)
	return Applied
}

func (t *Table) raiseFloor(s *state, c *Change) {
	switch c.Kind {
	case Create:
		raise(&s.created[t.slot(c.Key.Hash())], c.Seq)
	case Changed, Purge:
		raise(&s.changed[t.slot(c.Key.Hash())], c.Seq)
	case PurgeAll:
		for i := range s.changed {
			raise(&s.changed[i], c.Seq)
		}
	}
}

// raise stores v unless the floor is higher already. Readers raise floors too
// (View.Accept), hence the loop.
func raise(floor *atomic.Uint64, v uint64) {
	for {
		old := floor.Load()
		if old >= v || floor.CompareAndSwap(old, v) {
			return
		}
	}
}
