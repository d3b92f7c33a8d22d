package feed

import (
	"sync"
	"testing"

	"waypost/shared/link"
)

const slots = 1024

// key is one whose shard the tests move.
func key() link.Key { return link.Key{Code: "a"} }

func shardOf(k link.Key) int { return Shard(k.Hash()) }

// other is a key of the same shard as key, but of another slot.
func other(t *testing.T, table *Table) link.Key {
	t.Helper()
	for _, c := range "bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" {
		for _, d := range "abcdefghijklmnopqrstuvwxyz" {
			k := link.Key{Code: string(c) + string(d)}
			if shardOf(k) == shardOf(key()) && table.slot(k.Hash()) != table.slot(key().Hash()) {
				return k
			}
		}
	}
	t.Fatal("no key of the same shard found")
	return link.Key{}
}

func newTable(epoch, head uint64) *Table {
	table := NewTable(slots, 99)
	table.Reset(shardOf(key()), epoch, head)
	return table
}

func change(seq uint64, kind Kind) *Change {
	return &Change{Epoch: 1, Shard: shardOf(key()), Seq: seq, Kind: kind, Key: key()}
}

func fresh(t *testing.T, table *Table, e *Entry) bool {
	t.Helper()
	view, ok := table.View(e.Key.Hash())
	if !ok {
		t.Fatal("no state")
	}
	return view.Fresh(e)
}

func entry(asof uint64, state State) *Entry {
	return &Entry{Epoch: 1, AsOf: asof, Version: asof, Key: key(), Body: Body{State: state}}
}

func TestNothingIsJudgedBeforeTheFirstReset(t *testing.T) {
	t.Parallel()
	table := NewTable(slots, 1)
	if _, ok := table.View(key().Hash()); ok {
		t.Error("a view exists without any state")
	}
	if got := table.Apply(change(1, Create)); got != OtherEpoch {
		t.Errorf("apply: got outcome %d, want OtherEpoch", got)
	}
}

func TestBootAcceptsNothingOlderThanTheHead(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	if fresh(t, table, entry(9, Enabled)) {
		t.Error("an entry from before the boot's head is served")
	}
	if !fresh(t, table, entry(10, Enabled)) {
		t.Error("an entry as of the head is refused")
	}
}

func TestChangesAreAppliedInOrderAndOnce(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	for _, step := range []struct {
		seq  uint64
		want Outcome
	}{{12, Gap}, {11, Applied}, {11, Repeated}, {12, Applied}, {10, Repeated}, {14, Gap}} {
		if got := table.Apply(change(step.seq, Changed)); got != step.want {
			t.Errorf("position %d: got outcome %d, want %d", step.seq, got, step.want)
		}
	}
	if _, applied, _ := table.Position(shardOf(key())); applied != 12 {
		t.Errorf("applied: got %d, want 12", applied)
	}
}

func TestWhichKindRefutesWhichEntry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		kind         Kind
		live, absent bool // still served, known as of the position before
	}{
		{"create", Create, true, false},
		{"change", Changed, false, false},
		{"purge", Purge, false, false},
		{"purge of all", PurgeAll, false, false},
	} {
		table := newTable(1, 10)
		table.Apply(change(11, c.kind))
		if got := fresh(t, table, entry(10, Enabled)); got != c.live {
			t.Errorf("%s: a live entry is served: got %v, want %v", c.name, got, c.live)
		}
		if got := fresh(t, table, entry(10, Absent)); got != c.absent {
			t.Errorf("%s: an absent entry is served: got %v, want %v", c.name, got, c.absent)
		}
		for _, state := range []State{Enabled, Disabled, Absent} {
			if !fresh(t, table, entry(11, state)) {
				t.Errorf("%s: an entry as of the change (state %d) is refused", c.name, state)
			}
		}
	}
}

func TestAChangeOfAnotherKeyCostsNothing(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	c := change(11, Changed)
	c.Key = other(t, table)
	table.Apply(c)
	if !fresh(t, table, entry(10, Enabled)) {
		t.Error("a change of another key made this one's entry a miss")
	}
}

func TestResetKeepsFloorsWithinAnEpoch(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	view, _ := table.View(key().Hash())
	ahead := entry(40, Enabled)
	if !view.Accept(ahead) {
		t.Fatal("a fill from beyond applied is refused")
	}
	table.Reset(shardOf(key()), 1, 30)
	if fresh(t, table, entry(30, Enabled)) {
		t.Error("after a reset an entry older than one already served is served")
	}
	table.Reset(shardOf(key()), 1, 20)
	if _, applied, _ := table.Position(shardOf(key())); applied != 30 {
		t.Errorf("a reset to a lower head: applied is %d, want 30", applied)
	}
}

func TestEpochsDoNotMix(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	table.Reset(shardOf(key()), 2, 5)
	if fresh(t, table, entry(1000, Enabled)) {
		t.Error("an entry of the old epoch is served")
	}
	if got := table.Apply(change(6, Changed)); got != OtherEpoch {
		t.Errorf("a change of the old epoch: got outcome %d, want OtherEpoch", got)
	}
	table.Reset(shardOf(key()), 1, 100)
	if epoch, applied, _ := table.Position(shardOf(key())); epoch != 2 || applied != 5 {
		t.Errorf("a reset to the old epoch: got (%d, %d), want (2, 5)", epoch, applied)
	}
	e := entry(5, Enabled)
	e.Epoch = 2
	if !fresh(t, table, e) {
		t.Error("an entry of the new epoch is refused")
	}
}

func TestAcceptRaisesTheFloorToTheVersion(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	view, _ := table.View(key().Hash())
	if !view.Accept(&Entry{Epoch: 1, AsOf: 30, Version: 20, Key: key(), Body: Body{State: Enabled}}) {
		t.Fatal("a newer entry is refused")
	}
	if fresh(t, table, entry(19, Enabled)) {
		t.Error("an entry older than one served before is served")
	}
	if !fresh(t, table, entry(20, Enabled)) {
		t.Error("the version that was served is refused from elsewhere")
	}
	if got := view.MinSeq(); got != 10 {
		t.Errorf("a view changed under its request: min_seq is %d, want 10", got)
	}
}

// A reader that has seen a position must see the floor of every change up to
// it, and floors must never fall, whoever raises them.
func TestFloorsUnderConcurrency(t *testing.T) {
	t.Parallel()
	const changes = 2000
	table := newTable(1, 0)
	shard := shardOf(key())
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			var last uint64
			for {
				_, applied, _ := table.Position(shard)
				view, _ := table.View(key().Hash())
				if view.changed < applied {
					t.Errorf("position %d is visible before its floor %d", applied, view.changed)
					return
				}
				if view.changed < last {
					t.Errorf("the floor fell from %d to %d", last, view.changed)
					return
				}
				last = view.changed
				view.Accept(&Entry{Epoch: 1, AsOf: view.changed, Version: view.changed / 2, Key: key(), Body: Body{State: Enabled}})
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for seq := uint64(1); seq <= changes; seq++ {
		table.Apply(change(seq, Changed))
	}
	close(done)
	readers.Wait()
}

func TestSlotsSpreadWithinAShard(t *testing.T) {
	t.Parallel()
	table := NewTable(slots, 12345)
	used := make(map[uint64]int)
	n := 0
	for i := range 200_000 {
		k := link.Key{Code: Subject("k", i)}
		if shardOf(k) == 0 {
			used[table.slot(k.Hash())]++
			n++
		}
	}
	// n balls in 1,024 bins: all but a few bins are hit, none by many.
	if len(used) < slots*9/10 {
		t.Errorf("%d keys of one shard share %d of %d slots", n, len(used), slots)
	}
}

func TestViewDoesNotAllocate(t *testing.T) {
	table := newTable(1, 10)
	hash, e := key().Hash(), entry(10, Enabled)
	if got := testing.AllocsPerRun(1000, func() {
		view, _ := table.View(hash)
		if !view.Fresh(e) {
			t.Fatal("refused")
		}
	}); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkRule(b *testing.B) {
	table := newTable(1, 10)
	hash, e := key().Hash(), entry(10, Enabled)
	b.ReportAllocs()
	for b.Loop() {
		view, _ := table.View(hash)
		if !view.Fresh(e) {
			b.Fatal("refused")
		}
	}
}
