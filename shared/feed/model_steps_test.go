package feed

import "sync/atomic"

// steps is what the model drives: the production code's single steps in their
// order, and its decisions. A mutant replaces one.
type steps struct {
	load   []step[func(v *View, t *Table, n int, slot uint64) bool]
	apply  []step[func(t *Table, s *state, c *Change)]
	within []step[func(t *Table, s *state, n int, head uint64)]
	copy   []step[func(to, from *state)]

	outcome     func(s *state, c *Change) Outcome
	fresh       func(v *View, e *Entry) bool
	known       func(v *View, e *Entry) bool
	accept      func(v *View, e *Entry) bool
	acceptKnown func(v *View, e *Entry) bool
	joins       func(need, sent Fill) bool

	// What other rooms do, as the protocol has it.
	filterNo func(a row) bool                              // the filter says no to A in this state
	heads    func(h *history, sent int) (read []headsRead) // what a probe sent at a time may be answered with by now
	restore  func(f floors) floors
}

// step is one load or store, by the name of the function that does it.
type step[F any] struct {
	name string
	do   F
}

type headsRead struct{ epoch, head uint8 }

func production() steps {
	return steps{
		load: []step[func(*View, *Table, int, uint64) bool]{
			{"loadLease", func(v *View, t *Table, n int, _ uint64) bool { v.loadLease(t, n); return true }},
			{"loadState", func(v *View, t *Table, n int, _ uint64) bool { return v.loadState(t, n) }},
			{"loadBase", func(v *View, _ *Table, _ int, _ uint64) bool { v.loadBase(); return true }},
			{"loadChanged", func(v *View, _ *Table, _ int, slot uint64) bool { v.loadChanged(slot); return true }},
			{"loadCreated", func(v *View, _ *Table, _ int, slot uint64) bool { v.loadCreated(slot); return true }},
		},
		apply: []step[func(*Table, *state, *Change)]{
			{"raiseFloor", (*Table).raiseFloor},
			{"storeApplied", func(_ *Table, s *state, c *Change) { s.storeApplied(c.Seq) }},
			{"renew", func(t *Table, s *state, c *Change) { t.renew(c.Shard, s) }},
		},
		within: []step[func(*Table, *state, int, uint64)]{
			{"storeBase", func(_ *Table, s *state, _ int, head uint64) { s.storeBase(head) }},
			{"storeApplied", func(_ *Table, s *state, _ int, head uint64) { s.storeApplied(head) }},
			{"renew", func(t *Table, s *state, n int, _ uint64) { t.renew(n, s) }},
		},
		copy: []step[func(to, from *state)]{
			{"copyApplied", (*state).copyApplied},
			{"copyBase", (*state).copyBase},
			{"copyChanged", (*state).copyChanged},
			{"copyCreated", (*state).copyCreated},
		},
		outcome:     outcomeOf,
		fresh:       (*View).Fresh,
		known:       (*View).Known,
		accept:      (*View).Accept,
		acceptKnown: (*View).AcceptKnown,
		joins:       Fill.MayJoin,
		filterNo:    func(a row) bool { return a == noRow },
		heads:       headsTogether,
		restore:     func(f floors) floors { return f },
	}
}

// headsTogether reads epoch and heads at one moment, after the probe was sent.
func headsTogether(h *history, sent int) (read []headsRead) {
	for _, m := range h.moments[sent:] {
		read = append(read, headsRead{epoch: m.epoch, head: m.head})
	}
	return read
}

// headsApart reads the epoch at another moment than the heads.
func headsApart(h *history, sent int) (read []headsRead) {
	for _, e := range h.moments[sent:] {
		for _, m := range h.moments[sent:] {
			read = append(read, headsRead{epoch: e.epoch, head: m.head})
		}
	}
	return read
}

// judgeBy replaces the rule's bar, for all four of its forms.
func (s *steps) judgeBy(bar func(v *View, e *Entry) uint64, raise func(v *View, e *Entry)) {
	s.known = func(v *View, e *Entry) bool { return e.Epoch == v.Epoch && bar(v, e) <= e.AsOf }
	s.fresh = func(v *View, e *Entry) bool { return s.known(v, e) && v.base <= e.AsOf }
	taken := func(v *View, e *Entry, ok bool) bool {
		if ok {
			raise(v, e)
		}
		return ok
	}
	s.accept = func(v *View, e *Entry) bool { return taken(v, e, s.fresh(v, e)) }
	s.acceptKnown = func(v *View, e *Entry) bool { return taken(v, e, s.known(v, e)) }
}

// The production rule's parts, for mutants that replace the other one.
func theBar(v *View, e *Entry) uint64 {
	if e.State == Absent {
		return max(v.changed, v.created)
	}
	return v.changed
}

func theRaise(v *View, e *Entry) { raise(v.floor, e.Version) }

// lower is a store that does not look at what the floor is.
func lower(floor *atomic.Uint64, v uint64) { floor.Store(v) }

// moved puts the step of this name behind another one.
func moved[F any](in []step[F], name, behind string) (out []step[F]) {
	var it step[F]
	for _, s := range in {
		if s.name == name {
			it = s
			continue
		}
		out = append(out, s)
	}
	for i, s := range out {
		if s.name == behind {
			return append(out[:i+1:i+1], append([]step[F]{it}, out[i+1:]...)...)
		}
	}
	panic("no step " + behind)
}

func names[F any](in []step[F]) (out []string) {
	for _, s := range in {
		out = append(out, s.name)
	}
	return out
}
