package feed

import "testing"

func TestALeaseRunsFromTheProbeWhoseHeadIsApplied(t *testing.T) {
	t.Parallel()
	n := shardOf(key())
	for _, c := range []struct {
		name string
		do   func(table *Table)
		want Instant
	}{
		{"none before an answer", func(*Table) {}, 0},
		{"head applied", func(table *Table) { table.Answer(n, 1, 5, 10) }, 5},
		{"head passed", func(table *Table) { table.Answer(n, 1, 5, 9) }, 5},
		{"head beyond", func(table *Table) { table.Answer(n, 1, 5, 11) }, 0},
		{"head reached by a change", func(table *Table) {
			table.Answer(n, 1, 5, 11)
			table.Apply(change(11, Changed))
		}, 5},
		{"head reached by a reset", func(table *Table) {
			table.Answer(n, 1, 5, 12)
			table.Reset(n, 1, 20)
		}, 5},
		{"the latest of those reached", func(table *Table) {
			table.Answer(n, 1, 6, 11)
			table.Answer(n, 1, 5, 11)
			table.Answer(n, 1, 7, 12)
			table.Apply(change(11, Changed))
		}, 6},
		{"never back", func(table *Table) {
			table.Answer(n, 1, 8, 10)
			table.Answer(n, 1, 5, 10)
		}, 8},
		{"another epoch's answer", func(table *Table) { table.Answer(n, 2, 5, 1) }, 0},
		{"answers that wait are of their epoch", func(table *Table) {
			table.Answer(n, 1, 5, 11)
			table.Reset(n, 2, 30)
		}, 0},
		{"dropped", func(table *Table) {
			table.Answer(n, 1, 5, 10)
			table.Answer(n, 1, 6, 11)
			table.DropLeases()
			table.Apply(change(11, Changed))
		}, 0},
		{"taken up after a drop", func(table *Table) {
			table.Answer(n, 1, 5, 10)
			table.DropLeases()
			table.Answer(n, 1, 3, 10)
		}, 3},
	} {
		table := newTable(1, 10)
		c.do(table)
		if got := table.Lease(n); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestWaitingAnswersAreBoundedAndTheOldestGoes(t *testing.T) {
	t.Parallel()
	table, n := newTable(1, 10), shardOf(key())
	for i := range uint64(maxWaiting + 1) {
		table.Answer(n, 1, Instant(100+i), 11+i)
	}
	table.Apply(change(11, Changed))
	if got := table.Lease(n); got != 0 {
		t.Errorf("the oldest answer gave a lease from %d, want it dropped", got)
	}
	for seq := uint64(12); seq <= 11+maxWaiting; seq++ {
		table.Apply(change(seq, Changed))
		if got, want := table.Lease(n), Instant(100+seq-11); got != want {
			t.Errorf("position %d: lease from %d, want %d", seq, got, want)
		}
	}
}

func TestTheOlderLeaseOfShardAndConfigCounts(t *testing.T) {
	t.Parallel()
	n := shardOf(key())
	for _, c := range []struct{ shard, config, want Instant }{{5, 7, 5}, {7, 5, 5}, {5, 0, 0}, {0, 5, 0}} {
		table := newTable(1, 10)
		table.Reset(ConfigShard, 1, 3)
		table.Answer(n, 1, c.shard, 10)
		table.Answer(ConfigShard, 1, c.config, 3)
		view, ok := table.View(key().Hash())
		if !ok || view.Lease != c.want {
			t.Errorf("shard %d, config %d: got %d, %v, want %d", c.shard, c.config, view.Lease, ok, c.want)
		}
	}
}
