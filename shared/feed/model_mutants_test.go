package feed

import "testing"

// Each rule of the protocol is needed: with one switched off, the search finds
// an answer that must not be given.
func TestModelFindsWhatBreaksWithoutARule(t *testing.T) {
	t.Parallel()
	small := world{writes: 2, ops: []event{setA, setB}, first: live, slots: 1, readers: 1}
	with := func(change func(w *world)) world {
		w := small
		change(&w)
		return w
	}
	rows := with(func(w *world) { w.ops, w.first = []event{setA, deleteA}, noRow })
	deleted := with(func(w *world) { w.first = tombstone })
	removed := with(func(w *world) { w.ops, w.forgets = []event{setA, deleteA}, true })
	waiting := with(func(w *world) { w.waits = true })
	saved := with(func(w *world) { w.writes, w.saves, w.restarts = 1, true, 1 })
	restored := with(func(w *world) { w.restores = 1 })
	savedJumping := with(func(w *world) { w.writes, w.saves, w.restarts, w.resets = 1, true, 1, true })
	jumping := with(func(w *world) { w.resets = true })

	for _, c := range []struct {
		name    string
		in      world
		without func(s *steps)
	}{
		{"lease loaded after the floors", small, func(s *steps) { s.load = moved(s.load, "loadLease", "loadCreated") }},
		{"lease loaded after base", jumping, func(s *steps) { s.load = moved(s.load, "loadLease", "loadBase") }},
		{"lease loaded after the epoch", restored, func(s *steps) { s.load = moved(s.load, "loadLease", "loadState") }},
		{"applied stored before the floor", small, func(s *steps) { s.apply = moved(s.apply, "raiseFloor", "storeApplied") }},
		{"lease stored before applied and the floor", waiting, func(s *steps) {
			s.apply = moved(s.apply, "storeApplied", "renew") // that is raiseFloor, renew, storeApplied
			s.apply = moved(s.apply, "raiseFloor", "renew")
			s.apply[0].do = func(t *Table, _ *state, c *Change) {
				t.storeLease(c.Shard, t.shard[c.Shard].waiting.reached(c.Seq))
			}
		}},
		{"base stored after applied", savedJumping, func(s *steps) { s.within = moved(s.within, "storeBase", "storeApplied") }},
		{"a store that can lower a floor", small, storesLower},
		{"gaps skipped", small, func(s *steps) {
			s.outcome = func(st *state, c *Change) Outcome {
				if o := outcomeOf(st, c); o != Gap {
					return o
				}
				return Applied
			}
		}},
		{"floors lost at restart", saved, func(s *steps) {
			s.restore = func(f floors) floors { return floors{applied: f.applied, base: f.base} }
		}},
		{"floors saved before applied was read", saved, func(s *steps) {
			s.copy = moved(moved(s.copy, "copyApplied", "copyCreated"), "copyBase", "copyApplied")
		}},
		{"base saved before applied was read", savedJumping, func(s *steps) { s.copy = moved(s.copy, "copyApplied", "copyBase") }},
		{"an accepted value does not raise the floor", small, func(s *steps) {
			s.judgeBy(theBar, func(*View, *Entry) {})
		}},
		{"an accepted value raises the wrong array", small, func(s *steps) {
			s.judgeBy(theBar, func(v *View, e *Entry) { raise(&v.state.slots[0].created, e.Version) })
		}},
		{"a filter without tombstones", with(func(w *world) { w.ops = []event{setA, deleteA} }), func(s *steps) {
			s.filterNo = func(a row) bool { return a != live }
		}},
		{"an absent entry reads only changed", rows, func(s *steps) {
			s.judgeBy(func(v *View, _ *Entry) uint64 { return onlyChanged(v) }, theRaise)
		}},
		{"an absent entry reads only created", rows, absentReads(noRowEntry, onlyCreated)},
		{"a tombstone reads only created", deleted, absentReads(tombstoneEntry, onlyCreated)},
		{"a tombstone reads only changed", removed, absentReads(tombstoneEntry, onlyChanged)},
		{"a reset drops the floors", jumping, func(s *steps) {
			s.within = []step[func(*Table, *state, int, uint64)]{{"storeState", func(t *Table, st *state, n int, head uint64) {
				t.storeState(n, t.stateAt(n, st.epoch, head))
			}}}
		}},
		{"a fill with a lower min_seq is joined", with(func(w *world) { w.fills = true }), func(s *steps) {
			s.joins = func(need, sent Fill) bool { return need.Epoch == sent.Epoch }
		}},
		{"a fill of another epoch is joined", with(func(w *world) { w.writes, w.ops, w.fills, w.restores = 1, []event{setA}, true, 1 }), func(s *steps) {
			s.joins = func(need, sent Fill) bool { return need.MinSeq <= sent.MinSeq }
		}},
		{"the epoch is not read with the heads", restored, func(s *steps) { s.heads = headsApart }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := production()
			c.without(&s)
			found := explore(c.in, s)
			if found.fault == "" {
				t.Fatalf("no fault in %d states", len(found.seen))
			}
			t.Logf("after %d states: %s", len(found.seen), found)
		})
	}
}

func storesLower(s *steps) {
	s.judgeBy(theBar, func(v *View, e *Entry) { lower(v.floor, e.Version) })
	s.apply[0].do = func(t *Table, st *state, c *Change) {
		lower(&st.slots[t.slot(c.Key.Hash())].changed, c.Seq)
	}
}

func noRowEntry(e *Entry) bool     { return e.State == Absent && e.Version == 0 }
func tombstoneEntry(e *Entry) bool { return e.State == Absent && e.Version > 0 }
func onlyChanged(v *View) uint64   { return v.changed }
func onlyCreated(v *View) uint64   { return v.created }

// absentReads changes the bar of some absent entries.
func absentReads(which func(e *Entry) bool, bar func(v *View) uint64) func(s *steps) {
	return func(s *steps) {
		s.judgeBy(func(v *View, e *Entry) uint64 {
			if which(e) {
				return bar(v)
			}
			return theBar(v, e)
		}, theRaise)
	}
}
