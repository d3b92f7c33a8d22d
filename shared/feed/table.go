package feed

import "sync/atomic"

// Slots is the default number of each shard's slots: with two floors each they
// make 16 MiB an edge.
const Slots = 16384

// Table holds an edge's state of every shard. Reading (View, Position) is
// lock-free and safe from any goroutine; the methods that move a shard on
// (Apply, Answer, DropLeases, Reset, Adopt) must be called from one goroutine at a
// time.
//
// What must happen in which order, and is tested by every interleaving of small
// worlds (model_test.go):
//
//   - a writer raises a change's floor, then stores applied, then the lease;
//   - a reset stores base, then applied; a new epoch's state is published
//     whole, before any lease that an answer of the epoch grants;
//   - a reader loads the lease, then the state, then base and floors;
//   - a save reads applied, then base and floors.
//
// All loads and stores are sequentially consistent (sync/atomic).
type Table struct {
	seed  uint64
	slots uint64 // a power of two
	shard [AllShards]shard
}

// shard is one shard's place in the table. The lease stands outside the state:
// a reader loads it first, whatever state it finds after.
type shard struct {
	lease   atomic.Int64 // Instant of the probe that showed this edge to be up to date; 0: none
	state   atomic.Pointer[state]
	waiting waiting // the writer's
}

// state is what the edge knows of one shard in one epoch. Only a new epoch
// gets a new state, so a reader that loaded the pointer reads one epoch's
// floors throughout.
type state struct {
	epoch   uint64
	applied atomic.Uint64 // every change up to it is applied, in order, without gaps
	base    atomic.Uint64 // a floor for all keys: what a boot or a reset cannot know

	slots []slot // direct-mapped by hash
}

// slot is the floors of the keys that share it; a store never lowers one. They
// lie beside each other because a reader loads both: one cache miss, not two.
type slot struct {
	changed atomic.Uint64 // raised by every change that found a row
	created atomic.Uint64 // raised by creates that found none
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

// newState has floors for keys, which the config shard has none of.
func (t *Table) newState(n int, epoch uint64) *state {
	s := &state{epoch: epoch}
	if n != ConfigShard {
		s.slots = make([]slot, t.slots)
	}
	return s
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
// ok is false before the first Reset or Restore: then there is no position, and
// the epoch is 0 or the adopted one.
func (t *Table) Position(n int) (epoch, applied uint64, ok bool) {
	s := t.shard[n].state.Load()
	if s == nil {
		return 0, 0, false
	}
	return s.epoch, s.applied.Load(), !s.adopted()
}

// Reset takes a shard to head without the changes in between: at boot, when
// they are no longer kept, and on a newer epoch. Within an epoch the floors
// stay; base is stored before applied, so that no reader sees the position
// without the floor that stands for the changes it skipped. An older epoch, or
// a head not beyond applied, changes nothing, but the first Reset after Adopt
// always counts.
func (t *Table) Reset(n int, epoch, head uint64) {
	s := t.shard[n].state.Load()
	switch whichReset(s, epoch, head) {
	case resetAnew:
		t.shard[n].waiting.forget()
		t.storeState(n, t.stateAt(n, epoch, head))
	case resetWithin:
		s.storeBase(head)
		s.storeApplied(head)
		t.renew(n, s)
	case resetNot:
	}
}

// reset is what a Reset has to do.
type reset uint8

const (
	resetNot    reset = iota // nothing: it is not news
	resetAnew                // publish a new state: the first, or a newer epoch's
	resetWithin              // move the state on and keep its floors
)

func whichReset(s *state, epoch, head uint64) reset {
	switch {
	case s == nil || epoch > s.epoch:
		return resetAnew
	case epoch == s.epoch && (head > s.applied.Load() || s.adopted()):
		return resetWithin
	}
	return resetNot
}

// stateAt is a state that knows of no change, but of none missing after head.
func (t *Table) stateAt(n int, epoch, head uint64) *state {
	s := t.newState(n, epoch)
	s.storeBase(head)
	s.storeApplied(head)
	return s
}

// Adopt gives a shard without a position a state of this epoch in which nothing
// is fresh, no change is the next one and no lease is granted: an edge that
// starts while no origin answers knows an epoch from what it finds in Redis, and
// no position. Of several the newest counts; the first Reset of the epoch, or
// of a newer one, ends that.
func (t *Table) Adopt(n int, epoch uint64) {
	if s := t.shard[n].state.Load(); s != nil && (!s.adopted() || epoch <= s.epoch) {
		return
	}
	s := t.newState(n, epoch)
	s.storeBase(unknown)
	t.storeState(n, s)
}

// unknown is a base that no entry reaches.
const unknown = ^uint64(0)

func (s *state) adopted() bool { return s.base.Load() == unknown }

// Outcome says what Apply did with a change.
type Outcome uint8

// The outcomes of Apply.
const (
	Applied    Outcome = iota // it was the next one
	Repeated                  // it, or a reset beyond it, was applied before
	Gap                       // changes before it are missing, or no position is known; nothing was done
	OtherEpoch                // the shard is not in the change's epoch; nothing was done
)

// Apply moves the shard on by one change: the floor is raised, then applied is
// stored, then the lease of an answer that waited for this position. A reader
// that sees the position therefore sees the floor, and one that sees the lease
// sees both.
func (t *Table) Apply(c *Change) Outcome {
	s := t.shard[c.Shard].state.Load()
	outcome := outcomeOf(s, c)
	if outcome == Applied {
		t.raiseFloor(s, c)
		s.storeApplied(c.Seq)
		t.renew(c.Shard, s)
	}
	return outcome
}

func outcomeOf(s *state, c *Change) Outcome {
	switch {
	case s == nil || s.epoch != c.Epoch:
		return OtherEpoch
	case s.adopted():
		return Gap
	case c.Seq <= s.applied.Load():
		return Repeated
	case c.Seq > s.applied.Load()+1:
		return Gap
	}
	return Applied
}

// raiseFloor is what a change forbids from its position on.
func (t *Table) raiseFloor(s *state, c *Change) {
	if c.Shard == ConfigShard {
		return
	}
	switch c.Kind {
	case Create:
		raise(&s.slots[t.slot(c.Key.Hash())].created, c.Seq)
	case Changed, Purge:
		raise(&s.slots[t.slot(c.Key.Hash())].changed, c.Seq)
	case PurgeAll:
		for i := range s.slots {
			raise(&s.slots[i].changed, c.Seq)
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

// The single stores of the writer.
func (s *state) storeBase(v uint64)           { s.base.Store(v) }
func (s *state) storeApplied(v uint64)        { s.applied.Store(v) }
func (t *Table) storeState(n int, s *state)   { t.shard[n].state.Store(s) }
func (t *Table) storeLease(n int, at Instant) { t.shard[n].lease.Store(int64(at)) }
