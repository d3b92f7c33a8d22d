package feed

import "fmt"

// read moves one request on: its loads one by one, then what it finds.
func (x *explorer) read(n *node, h *history, i int) {
	r := &n.readers[i]
	if int(r.step) < len(x.steps.load) {
		x.loadNext(n, i)
		return
	}
	x.bench.load(n)
	v := x.view(r)
	for time := int(h.moments[len(h.moments)-1].oldest); time < len(h.moments); time++ {
		e := h.entries[time]
		if n.l1&(1<<time) != 0 {
			x.hit(n, h, i, &v, e, time)
		}
		x.beyond(n, h, i, &v, e, time, readsL2)
		if x.filterNo(h.moments[time].a) {
			x.beyond(n, h, i, &v, h.noes[time], time, readsFilter)
		}
	}
	if x.fills {
		x.fill(n, h, i)
	}
}

// loadNext is a request's next load; what was answered before the first one is
// what its own answer is held against.
func (x *explorer) loadNext(n *node, i int) {
	next := *n
	r := &next.readers[i]
	x.bench.load(n)
	v := x.view(r)
	if !x.steps.load[r.step].do(&v, x.table, x.n, x.slot) {
		return // no state: nothing can be judged
	}
	if r.step == 0 {
		r.answered, r.ever, r.told = n.answered, n.ever, n.told
	}
	r.note(&v)
	r.step++
	next.forget()
	x.visit(&next, move{kind: loads, a: uint8(i), b: r.step - 1}, "")
}

// hit is for an entry found in L1: nothing is written.
func (x *explorer) hit(n *node, h *history, i int, v *View, e *Entry, time int) {
	if v.Lease > 0 && x.fresh(v, e) {
		next := *n
		x.answer(&next, h, i, time, true, readsL1)
	}
	if x.degraded && e.State != Absent && x.known(v, e) {
		next := *n
		x.answer(&next, h, i, time, false, readsL1)
	}
}

// beyond is for an entry found beyond L1: it raises the floor before it is
// stored and served.
func (x *explorer) beyond(n *node, h *history, i int, v *View, e *Entry, time int, from moveKind) {
	if v.Lease > 0 {
		x.bench.load(n)
		if x.accept(v, e) {
			next := *n
			x.unload(&next)
			next.l1 |= 1 << time
			x.answer(&next, h, i, time, true, from)
		}
	}
	if x.degraded && e.State != Absent {
		x.bench.load(n)
		if x.acceptKnown(v, e) {
			next := *n
			x.unload(&next)
			next.l1 |= 1 << time
			x.answer(&next, h, i, time, false, from)
		}
	}
}

// fill sends one, or waits for one on its way that the request may join.
// Whatever answers it, however late, passes the request's own view: it would be
// sent again for nothing otherwise.
func (x *explorer) fill(n *node, h *history, i int) {
	v := x.view(&n.readers[i])
	need := v.Fill()
	if n.flight.epoch == 0 {
		next := *n
		next.flight = modelFill{epoch: uint8(need.Epoch), minSeq: uint8(need.MinSeq)}
		x.visit(&next, move{kind: sends, a: uint8(i), b: next.flight.minSeq}, "")
		return
	}
	sent := Fill{Epoch: uint64(n.flight.epoch), MinSeq: uint64(n.flight.minSeq)}
	gone := *n
	gone.flight = modelFill{}
	if !x.joins(need, sent) {
		x.visit(&gone, move{kind: ends}, "")
		return
	}
	for time, e := range h.entries {
		if !sent.AnsweredBy(e) {
			continue
		}
		x.bench.load(n)
		if !x.accept(&v, e) {
			x.visit(&gone, move{kind: refusesFill, a: uint8(i), b: uint8(time)}, fmt.Sprintf(
				"a fill's answer as of position %d is refused by the request that waited for it, which asked for %d",
				e.AsOf, need.MinSeq))
			continue
		}
		next := gone
		x.unload(&next)
		next.l1 |= 1 << time
		if v.Lease > 0 {
			x.answer(&next, h, i, time, true, readsFill)
		}
	}
}

// answer ends a request with A's content of a time, and checks it.
func (x *explorer) answer(next *node, h *history, i, time int, unmarked bool, from moveKind) {
	r, m := next.readers[i], &h.moments[time]
	did := move{kind: from, a: uint8(i), b: uint8(time)}
	if unmarked {
		did.a |= unmarkedBit
	}
	fault := ""
	if unmarked {
		if need := h.moments[r.lease-1].need(); m.at() < need {
			fault = fmt.Sprintf("stale: an unmarked answer as of %v, under a lease from time %d, when %v was committed",
				m.at(), r.lease-1, need)
		} else if m.at() < r.ever {
			fault = fmt.Sprintf("backwards: an answer as of %v, after %v was answered", m.at(), r.ever)
		}
	}
	switch {
	case fault != "":
	case m.at() < r.answered:
		fault = fmt.Sprintf("backwards: an answer as of %v, after %v was answered", m.at(), r.answered)
	case m.at() < r.told:
		fault = fmt.Sprintf("known to be changed: an answer as of %v, after %v was applied", m.at(), r.told)
	}
	next.readers[i] = request{}
	next.answered, next.ever = max(next.answered, m.content()), max(next.ever, m.content())
	next.forget()
	x.visit(next, did, fault)
}

const unmarkedBit = 0x80

func (r rank) String() string { return fmt.Sprintf("position %d of epoch %d", r&15, r>>4) }
