package feed

import (
	"fmt"

	"waypost/shared/link"
)

// world is what one search explores: everything that can happen to one edge
// and its shard within these bounds. Whatever the feed and the tiers may do is
// stateless here and so in every order, late, repeated or never: any change
// ever committed can arrive at any time, any answer of a probe or of /changes
// that could ever have been read, any entry that ever was true from L2. L1
// finds what was stored there since the start, whatever it holds by now. There
// is no clock but the order of commits: a lease lasts for ever, and the answers
// under it are held against the time it runs from.
//
// What a request does after its loads is one step: finding, judging, raising
// the floor and answering. It judges by what it loaded, so it may as well find
// the entry when it raises the floor; and an answer given later than that would
// only be held against fewer of the requests that follow.
type world struct {
	writes   int
	ops      []event // the writes to choose from
	first    row     // A before the first write
	slots    int     // of each floor array; 1: B is in A's slot
	readers  int     // requests at once
	waits    bool    // answers of probes may wait for their heads
	degraded bool    // requests may be answered marked
	fills    bool    // requests wait for fills that may be shared
	forgets  bool    // tombstones are removed in the end
	resets   bool    // /changes may answer "reset"
	adopts   bool    // the edge may start while no origin answers
	saves    bool    // the table is saved
	restarts int
	restores int // 1: the database may be restored to an older state
}

// explorer makes a world's steps.
type explorer struct {
	world
	steps
	*histories
	*bench
	visit func(next *node, did move, fault string)
}

func newExplorer(w world, s steps) *explorer {
	a := key()
	t := NewTable(w.slots, 99)
	b := a
	for i := 0; b == a || shardOf(b) != shardOf(a) || w.slots > 1 && t.slot(b.Hash()) == t.slot(a.Hash()); i++ {
		b = link.Key{Code: fmt.Sprint("b", i)}
	}
	return &explorer{
		world: w, steps: s, histories: newHistories(a, b, w.first),
		bench: newBench(t, shardOf(a), t.slot(a.Hash())),
	}
}

// move says what a step was, for the trace.
type move struct {
	kind moveKind
	a, b uint8
}

type moveKind uint8

const (
	commits moveKind = iota + 1
	adopts
	resets
	answers
	applies
	stores // the next store of a reset; b: its number
	loads  // reader a's next load
	readsL1
	readsL2
	readsFilter
	sends
	readsFill
	refusesFill
	ends // the fill on its way, for nobody
	copies
	restartsWarm
	restartsCold
)

// successors visits every state that one step leads to.
func (x *explorer) successors(n *node) {
	h := x.all[n.history]
	x.origin(n, h)
	x.write(n, h)
	for i := range x.readers {
		x.read(n, h, i)
	}
	x.restart(n, h)
}

// origin commits.
func (x *explorer) origin(n *node, h *history) {
	writes := 0
	for _, e := range h.events {
		if e <= setB {
			writes++
		}
	}
	try := func(e event) {
		if number, ok := x.extend(n.history, e); ok {
			next := *n
			next.history = number
			x.visit(&next, move{kind: commits, a: uint8(len(h.events) + 1), b: uint8(e)}, "")
		}
	}
	if writes < x.writes {
		for _, e := range x.ops {
			try(e)
		}
	}
	if x.forgets {
		try(forgetA)
	}
	if x.restores > 0 {
		for kept := range x.writes + 1 {
			try(restoreTo + firstHead + event(kept))
		}
	}
}

// write moves the edge on.
func (x *explorer) write(n *node, h *history) {
	if n.writer.step > 0 {
		x.goOn(n, h)
		return
	}
	for time := 1; time <= len(h.events); time++ {
		if c := h.changes[time-1]; c != nil {
			x.applyFirst(n, h, uint8(time))
		}
	}
	for _, read := range x.heads(h, int(n.booted)) {
		x.reset(n, read)
	}
	for sent := int(n.booted); sent < len(h.moments); sent++ {
		for _, read := range x.heads(h, sent) {
			x.answered(n, uint8(sent), read)
		}
	}
	if x.adopts && n.epoch == 0 {
		for epoch := range h.moments[len(h.moments)-1].epoch {
			next := *n
			x.bench.load(n)
			x.table.Adopt(x.n, uint64(epoch+1))
			x.unload(&next)
			x.visit(&next, move{kind: adopts, a: epoch + 1}, "")
		}
	}
}

// reset takes the heads of a probe's answer, or of a "reset" from /changes.
func (x *explorer) reset(n *node, read headsRead) {
	next := *n
	x.bench.load(n)
	s := x.table.shard[x.n].state.Load()
	did := move{kind: resets, a: read.epoch, b: read.head}
	switch whichReset(s, uint64(read.epoch), uint64(read.head)) {
	case resetAnew:
		x.table.Reset(x.n, uint64(read.epoch), uint64(read.head))
		x.unload(&next)
		x.visit(&next, did, "")
	case resetWithin:
		if x.resets || s.adopted() {
			next.writer = writer{head: read.head}
			x.store(&next, did)
		}
	case resetNot:
	}
}

// answered takes a probe's answer, whose heads may have to wait.
func (x *explorer) answered(n *node, sent uint8, read headsRead) {
	if n.floors[max(n.epoch, 1)-1].applied < read.head && (!x.waits || n.waiting.sent != 0) {
		return
	}
	next := *n
	x.bench.load(n)
	x.table.Answer(x.n, uint64(read.epoch), Instant(sent+1), uint64(read.head))
	x.unload(&next)
	x.visit(&next, move{kind: answers, a: sent, b: uint8(rankOf(read.epoch, read.head))}, "")
}

func (x *explorer) applyFirst(n *node, h *history, time uint8) {
	x.bench.load(n)
	if x.outcome(x.table.shard[x.n].state.Load(), h.changes[time-1]) == Applied {
		next := *n
		next.writer = writer{change: time}
		x.applyNext(&next, h)
	}
}

// goOn takes the writer's next step.
func (x *explorer) goOn(n *node, h *history) {
	next := *n
	x.bench.load(n)
	if n.writer.change > 0 {
		x.applyNext(&next, h)
	} else {
		x.store(&next, move{kind: stores, b: n.writer.step})
	}
}

// applyNext is on the loaded table.
func (x *explorer) applyNext(next *node, h *history) {
	w := &next.writer
	did := move{kind: applies, a: w.change, b: w.step}
	it := x.apply[w.step]
	it.do(x.table, x.table.shard[x.n].state.Load(), h.changes[w.change-1])
	w.step++
	if it.name == "storeApplied" {
		next.told = max(next.told, h.need(int(w.change)))
	}
	if int(w.step) == len(x.apply) || next.waiting.sent == 0 && x.apply[w.step].name == "renew" {
		if k := h.changes[w.change-1].Kind; h.need(int(w.change)) > 0 && (k == Create || k == Changed) {
			next.l1 |= 1 << w.change
		}
		*w = writer{}
	}
	x.unload(next)
	x.visit(next, did, "")
}

// store is a reset's next one, on the loaded table.
func (x *explorer) store(next *node, did move) {
	w := &next.writer
	x.within[w.step].do(x.table, x.table.shard[x.n].state.Load(), x.n, uint64(w.head))
	w.step++
	if int(w.step) == len(x.within) || next.waiting.sent == 0 && x.within[w.step].name == "renew" {
		*w = writer{}
	}
	x.unload(next)
	x.visit(next, did, "")
}

// restart saves the table, and ends the edge and starts it again.
func (x *explorer) restart(n *node, h *history) {
	if int(n.restarts) == x.restarts {
		return
	}
	if x.saves && (n.save.step > 0 || n.epoch > 0) {
		x.copyNext(n)
	}
	cold := node{
		history: n.history, restarts: n.restarts + 1, booted: uint8(len(h.events)), file: n.file, ever: n.ever,
	}
	if int(cold.restarts) == x.restarts {
		cold.file = saving{} // it is not needed again
	}
	x.visit(&cold, move{kind: restartsCold}, "")
	if n.file.epoch > 0 {
		warm := cold
		warm.epoch, warm.told = n.file.epoch, n.file.told
		warm.floors[warm.epoch-1] = x.restore(n.file.floors)
		x.visit(&warm, move{kind: restartsWarm}, "")
	}
}

// copyNext is the next load of a save, which began with the state's pointer.
func (x *explorer) copyNext(n *node) {
	next := *n
	s := &next.save
	if s.step == 0 {
		s.epoch = n.epoch
	}
	x.bench.load(n)
	x.put(x.scratch, s.floors)
	it := x.copy[s.step]
	it.do(x.scratch, x.states[s.epoch-1])
	s.floors = x.take(x.scratch)
	s.step++
	if it.name == "copyApplied" {
		s.told = n.told
	}
	did := move{kind: copies, a: s.step - 1}
	if int(s.step) == len(x.copy) {
		s.step = 0
		next.file, next.save = *s, saving{}
	}
	next.forget()
	x.visit(&next, did, "")
}
