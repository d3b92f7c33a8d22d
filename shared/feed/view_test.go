package feed

import "testing"

// What is known to be changed is served to nobody, lease or not.
func TestWithoutALeaseBaseAloneIsRelaxed(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	view, _ := table.View(key().Hash())
	if old := entry(4, Enabled); view.Fresh(old) || view.Accept(old) || !view.Known(old) {
		t.Error("an entry from before the boot: want it known, and not fresh")
	}
	table.Apply(change(11, Changed))
	view, _ = table.View(key().Hash())
	if old := entry(10, Enabled); view.Known(old) || view.AcceptKnown(old) {
		t.Error("an entry from before a change that was applied is served")
	}
	other := entry(11, Enabled)
	other.Epoch = 2
	if view.Known(other) || view.AcceptKnown(other) {
		t.Error("an entry of another epoch is served")
	}
	table.Apply(change(12, Create)) // of a key in the same slot
	view, _ = table.View(key().Hash())
	if !view.Known(entry(11, Enabled)) || view.Known(entry(11, Absent)) {
		t.Error("after a create: want the link known, and its absence not")
	}
}

func TestAcceptKnownRaisesTheFloorToTheVersion(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	view, _ := table.View(key().Hash())
	served := entry(6, Enabled)
	served.Version = 5
	if !view.AcceptKnown(served) {
		t.Fatal("refused")
	}
	view, _ = table.View(key().Hash())
	if view.Known(entry(4, Enabled)) {
		t.Error("an entry older than one served before is served")
	}
	if !view.Known(entry(5, Enabled)) {
		t.Error("the version that was served is refused from elsewhere")
	}
	if view.AcceptKnown(entry(4, Enabled)); view.changed != 5 {
		t.Errorf("the floor is %d, want 5", view.changed)
	}
}

func TestARefusedEntryRaisesNothing(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	view, _ := table.View(key().Hash())
	view.Accept(entry(9, Enabled))
	view, _ = table.View(key().Hash())
	if view.changed != 0 {
		t.Errorf("the floor is %d, want 0", view.changed)
	}
}

func TestAdoptedEpochsKnowNoPosition(t *testing.T) {
	t.Parallel()
	n := shardOf(key())
	table := NewTable(slots, 1)
	table.Adopt(n, 2)
	if epoch, _, ok := table.Position(n); epoch != 2 || ok {
		t.Errorf("position: got epoch %d, %v, want 2 and none", epoch, ok)
	}
	first := change(1, Create)
	first.Epoch = 2
	if got := table.Apply(first); got != Gap {
		t.Errorf("the first change: got outcome %d, want Gap", got)
	}
	if table.Answer(n, 2, 5, 0); table.Lease(n) != 0 {
		t.Error("an answer gave a lease")
	}
	e := entry(100, Enabled)
	e.Epoch = 2
	if view, ok := table.View(key().Hash()); !ok || view.Fresh(e) || !view.Known(e) {
		t.Error("an entry of the epoch: want it known, and not fresh")
	}
	table.shard[n].state.Load().slots[table.slot(key().Hash())].changed.Store(3)
	if view, _ := table.View(key().Hash()); view.MinSeq() != 3 {
		t.Errorf("a fill has to reach %d, want the floor 3: no position is known", view.MinSeq())
	}
	for _, head := range []uint64{0, 7} { // an empty shard's head as well
		adopted := NewTable(slots, 1)
		adopted.Adopt(n, 2)
		adopted.Reset(n, 2, head)
		if epoch, applied, ok := adopted.Position(n); epoch != 2 || applied != head || !ok {
			t.Errorf("after a reset to %d: got (%d, %d), %v", head, epoch, applied, ok)
		}
		if view, _ := adopted.View(key().Hash()); !view.Fresh(e) {
			t.Errorf("after a reset to %d a newer entry is refused", head)
		}
	}
}

func TestTheNewestAdoptedEpochCountsUntilAPositionIsKnown(t *testing.T) {
	t.Parallel()
	n := shardOf(key())
	table := NewTable(slots, 1)
	for _, step := range []struct{ adopt, want uint64 }{{2, 2}, {1, 2}, {4, 4}} {
		table.Adopt(n, step.adopt)
		if epoch, _, _ := table.Position(n); epoch != step.want {
			t.Errorf("adopt %d: got epoch %d, want %d", step.adopt, epoch, step.want)
		}
	}
	if table.Reset(n, 3, 9); table.shard[n].state.Load().epoch != 4 {
		t.Error("an older epoch's head ended the adopted one")
	}
	table.Reset(n, 4, 9)
	if table.Adopt(n, 5); table.shard[n].state.Load().epoch != 4 {
		t.Error("an epoch was adopted over a position")
	}
}
