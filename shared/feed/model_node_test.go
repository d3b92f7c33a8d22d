package feed

import "fmt"

// node is one state of a model world: small numbers only, so that it can be
// hashed as it stands. Times are those of history; an Instant is a time + 1.
type node struct {
	history  uint16
	restarts uint8
	booted   uint8 // the time of the last restart

	// The edge's table: the production code's, loaded from here for each step.
	epoch   uint8     // of the state; 0: none
	floors  [2]floors // by epoch - 1; an older epoch's only while somebody uses it
	lease   uint8
	waiting waitingAnswer

	writer  writer
	readers [2]request
	flight  modelFill // a fill on its way; epoch 0: none
	l1      uint8     // entries that were stored in L1 since the restart, a bit a time
	save    saving
	file    saving // the last one finished; epoch 0: none

	// What was answered and learnt, for the checks.
	answered rank // newest content, since the restart
	ever     rank // newest content
	told     rank // newest change of A applied since the restart
}

// floors is a state's content in A's slot.
type floors struct{ applied, base, changed, created uint8 }

const noBase = 255 // stands for unknown

type waitingAnswer struct{ sent, head uint8 } // sent 0: none

// writer is the one goroutine that moves the edge on, between two of its
// stores.
type writer struct {
	step   uint8 // stores done; 0: idle
	change uint8 // the time of the commit that is applied; 0: a reset
	head   uint8 // of the reset
}

// request is one that reads A.
type request struct {
	step                   uint8 // loads done; 0: none is on its way
	lease                  uint8
	epoch                  uint8 // of the state it loaded
	base, changed, created uint8

	answered, ever, told rank // when it was invoked
}

type modelFill struct{ epoch, minSeq uint8 }

// saving is a copy of the table, on its way to the file or in it.
type saving struct {
	step   uint8 // loads done
	epoch  uint8
	floors floors
	told   rank
}

// bench is the table on which the production code takes its steps.
type bench struct {
	table   *Table
	n       int
	slot    uint64
	states  [2]*state
	scratch *state
}

func newBench(t *Table, n int, slot uint64) *bench {
	b := &bench{table: t, n: n, slot: slot, scratch: t.newState(n, 1)}
	for i := range b.states {
		b.states[i] = t.newState(n, uint64(i+1))
	}
	t.storeLease(ConfigShard, 1<<62)
	return b
}

func (b *bench) put(s *state, f floors) {
	s.applied.Store(uint64(f.applied))
	s.base.Store(uint64(f.base))
	if f.base == noBase {
		s.base.Store(unknown)
	}
	s.slots[b.slot].changed.Store(uint64(f.changed))
	s.slots[b.slot].created.Store(uint64(f.created))
}

func (b *bench) take(s *state) floors {
	f := floors{
		applied: uint8(s.applied.Load()),
		base:    uint8(s.base.Load()), // unknown becomes noBase
		changed: uint8(s.slots[b.slot].changed.Load()),
		created: uint8(s.slots[b.slot].created.Load()),
	}
	return f
}

// load brings the table to where a node has it.
func (b *bench) load(n *node) {
	sh := &b.table.shard[b.n]
	sh.state.Store(nil)
	for i, s := range b.states {
		if n.uses(i) {
			b.put(s, n.floors[i])
		}
		if int(n.epoch) == i+1 {
			sh.state.Store(s)
		}
	}
	sh.lease.Store(int64(n.lease))
	sh.waiting.n = 0
	if n.waiting.sent != 0 {
		sh.waiting.add(answer{sent: Instant(n.waiting.sent), head: uint64(n.waiting.head)})
	}
}

// unload notes in a node where a step has left the table.
func (b *bench) unload(n *node) {
	sh := &b.table.shard[b.n]
	for i, s := range b.states {
		if n.uses(i) {
			n.floors[i] = b.take(s)
		}
	}
	if s := sh.state.Load(); s != nil {
		n.epoch = uint8(s.epoch)
		n.floors[n.epoch-1] = b.take(s)
	}
	n.lease = uint8(sh.lease.Load())
	n.waiting = waitingAnswer{}
	if sh.waiting.n > 0 {
		a := sh.waiting.answers[0]
		n.waiting = waitingAnswer{sent: uint8(a.sent), head: uint8(a.head)}
	}
	n.forget()
}

// forget makes nodes equal that differ only in what nobody can see any more.
func (n *node) forget() {
	for i := range n.floors {
		if !n.uses(i) {
			n.floors[i] = floors{}
		}
	}
}

// uses reports whether anybody holds the state of epoch i + 1.
func (n *node) uses(i int) bool {
	epoch := uint8(i + 1)
	return epoch == n.epoch || epoch == n.save.epoch || epoch == n.readers[0].epoch || epoch == n.readers[1].epoch
}

// view is what a reader has loaded so far.
func (b *bench) view(r *request) View {
	v := View{
		Lease: Instant(r.lease), Epoch: uint64(r.epoch),
		base: uint64(r.base), changed: uint64(r.changed), created: uint64(r.created),
	}
	if r.base == noBase {
		v.base = unknown
	}
	if r.epoch != 0 {
		v.state = b.states[r.epoch-1]
		v.floor = &v.state.slots[b.slot].changed
	}
	return v
}

func (r *request) note(v *View) {
	r.lease, r.epoch = uint8(min(v.Lease, 1<<7)), uint8(v.Epoch)
	r.base, r.changed, r.created = uint8(v.base), uint8(v.changed), uint8(v.created)
}

func (n *node) String() string {
	if n.epoch == 0 {
		return "no state"
	}
	f := n.floors[n.epoch-1]
	return fmt.Sprintf("epoch %d, applied %d, base %d, changed %d, created %d, lease %s",
		n.epoch, f.applied, f.base, f.changed, f.created, leaseText(n.lease))
}

func leaseText(lease uint8) string {
	if lease == 0 {
		return "none"
	}
	return fmt.Sprintf("from time %d", lease-1)
}
