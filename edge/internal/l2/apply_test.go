package l2

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"waypost/deploy/services"
	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestChangesCutIntoStretches(t *testing.T) {
	t.Parallel()
	row := func(epoch, seq uint64) *feed.Change { return &feed.Change{Epoch: epoch, Seq: seq} }
	many := make([]*feed.Change, maxRows+1)
	for i := range many {
		many[i] = row(1, uint64(i)+1)
	}
	for _, tc := range []struct {
		name string
		rows []*feed.Change
		want []int // lengths
	}{
		{"none", nil, nil},
		{"one", many[:1], []int{1}},
		{"in a row", many[:3], []int{3}},
		{"a gap", []*feed.Change{row(1, 1), row(1, 3), row(1, 4)}, []int{1, 2}},
		{"another epoch", []*feed.Change{row(1, 1), row(2, 2)}, []int{1, 1}},
		{"too many for one call", many, []int{maxRows, 1}},
	} {
		var got []int
		for _, stretch := range contiguous(tc.rows) {
			got = append(got, len(stretch))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got lengths %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestAFilterTakesOnlyItsNextPositions(t *testing.T) {
	t.Parallel()
	const shard = 3
	shape := small()
	client := connect(t, services.Redis(t).Addr())
	c := New(config(client, newOrigin()))
	header := bloom.Header{Shape: shape, Epoch: 2, Position: 10, Generation: 1}
	for _, tc := range []struct {
		name    string
		damage  func(b []byte) []byte
		epoch   uint64
		shape   bloom.Shape
		first   uint64
		rows    int
		want    string
		wantPos uint64
	}{
		{"the next", nil, 2, shape, 11, 1, "ok", 11},
		{"the next few", nil, 2, shape, 11, 5, "ok", 15},
		{"some of them known", nil, 2, shape, 9, 5, "ok", 13},
		{"all known", nil, 2, shape, 5, 6, "ok", 10},
		{"a gap", nil, 2, shape, 12, 1, "gap", 10},
		{"older epoch", nil, 1, shape, 11, 1, "epoch", 10},
		{"newer epoch", nil, 3, shape, 11, 1, "epoch", 10},
		{"another shape", nil, 2, bloom.Shape{M: shape.M, K: shape.K + 2}, 11, 1, "shape", 10},
		{"cut short", func(b []byte) []byte { return b[:len(b)-1] }, 2, shape, 11, 1, "missing", 10},
		{"no magic", func(b []byte) []byte { b[0] = 0; return b }, 2, shape, 11, 1, "missing", 10},
		{"no filter", func([]byte) []byte { return nil }, 2, shape, 11, 1, "missing", 0},
	} {
		stored := bloom.New(header).Append(nil)
		if tc.damage != nil {
			stored = tc.damage(stored)
		}
		if err := client.Del(t.Context(), c.keys[shard].filter).Err(); err != nil {
			t.Fatal(err)
		}
		if stored != nil {
			if err := client.Set(t.Context(), c.keys[shard].filter, stored, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		var rows []*feed.Change
		for i := range tc.rows {
			rows = append(rows, &feed.Change{
				Epoch: tc.epoch, Shard: shard, Seq: tc.first + uint64(i), Kind: feed.Create, Key: keyOf(i),
			})
		}
		one := c.advance(shard, tc.shape, rows)
		if err := c.run(within(t), []*call{one}); err != nil {
			t.Fatal(err)
		}
		if got := one.cmd.Val(); got != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, got, tc.want)
		}
		want := bloom.New(header)
		if tc.want == "ok" {
			want.Position = tc.wantPos
			for _, row := range rows {
				if row.Seq > header.Position {
					want.Add(row.Key.Hash())
				}
			}
			stored = want.Append(nil)
		}
		if got := client.Get(t.Context(), c.keys[shard].filter).Val(); got != string(stored) {
			t.Errorf("%s: the filter is not as it should be", tc.name)
		}
	}
}

func TestAChangeReplacesTheValueAndMovesTheFilter(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t).Addr())
	o := newOrigin()
	cfg := config(client, o)
	cfg.Check = time.Hour // the first look makes the filters; after it changes alone move them
	e := newEdge(o, cfg)
	e.run(t)
	eventually(t, "filters are there", func() bool { return e.inStepWith(t, o) })

	held, other := keyOf(1), keyOf(2)
	e.Store(&feed.Entry{Epoch: 1, Key: held}) // "there is no such link", at position 0
	eventually(t, "the absent value is there", func() bool { return e.find(t, held).Entry != nil })

	o.create(held)
	o.create(other)
	eventually(t, "the filter has moved", func() bool { return e.inStepWith(t, o) })
	eventually(t, "the created link is the value", func() bool {
		got := e.find(t, held).Entry
		return got != nil && got.State == feed.Enabled && got.Version == 1
	})
	if got := e.find(t, other); got.Entry != nil || got.Absent != nil {
		t.Errorf("created key without a value: got %+v, want no value and maybe", got)
	}

	deleted := o.write(held, feed.Changed, func() feed.Body { return feed.Body{} })
	eventually(t, "the tombstone is the value", func() bool {
		got := e.find(t, held).Entry
		return got != nil && got.State == feed.Absent && got.Version == deleted.Seq
	})
	o.write(held, feed.Purge, nil)
	o.write(held, feed.PurgeAll, nil)
	eventually(t, "the filter has moved over purges", func() bool { return e.inStepWith(t, o) })
	if got := e.find(t, held).Entry; got == nil || got.Version != deleted.Seq {
		t.Errorf("value after a purge: got %+v, want the tombstone still", got)
	}
	if s := e.Stats(); s.Repairs != 0 {
		t.Errorf("answers of the origin needed: got %d, want 0", s.Repairs)
	}
}

func TestTheConfigShardIsNoFilters(t *testing.T) {
	t.Parallel()
	c := New(Config{Shape: small(), Table: feed.NewTable(64, 1)})
	c.Applied(&feed.Change{Epoch: 1, Shard: feed.ConfigShard, Seq: 1, Kind: feed.Create, Key: link.Key{Code: "row"}})
	if got := len(c.woken); got != 0 {
		t.Error("a change of the config shard woke the worker")
	}
}

func TestChangesWaitForOthersButNotForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{Shape: small(), Table: feed.NewTable(64, 1)})
		c.writer.until.Store(int64(time.Hour))
		timer := time.NewTimer(0)
		defer timer.Stop()
		for name, tc := range map[string]struct {
			changes int
			want    time.Duration
		}{
			"one":            {1, gatherTime},
			"a few":          {maxBacklog/2 - 1, gatherTime},
			"half a backlog": {maxBacklog / 2, 0},
		} {
			began := time.Now()
			for i := range tc.changes {
				c.Applied(&feed.Change{Epoch: 1, Shard: 5, Seq: uint64(i) + 1, Kind: feed.Purge})
			}
			if !c.gather(t.Context(), timer) {
				t.Fatalf("%s: not gathered", name)
			}
			if got := time.Since(began); got != tc.want {
				t.Errorf("%s: waited %s, want %s", name, got, tc.want)
			}
			if got := len(c.backlog[5].take()); got != tc.changes {
				t.Errorf("%s: got %d together, want %d", name, got, tc.changes)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if c.gather(ended, timer) {
			t.Error("gathered after the end")
		}
	})
}

func TestABacklogThatOverflowsIsRepaired(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	e := newEdge(o, config(connect(t, services.Redis(t).Addr()), o))
	key := func(i int) link.Key { // all of one shard
		for n := i * 1000; ; n++ {
			if k := keyOf(n); feed.Shard(k.Hash()) == 5 {
				return k
			}
		}
	}
	e.writer.until.Store(int64(time.Hour)) // the writer, but nothing runs
	for i := range maxBacklog + 10 {
		o.create(key(i))
	}
	if got := e.Stats().Overflows; got != 10 {
		t.Errorf("overflows: got %d, want 10", got)
	}
	e.run(t)
	eventually(t, "the filter has everything", func() bool { return e.inStepWith(t, o) })
	for i := range maxBacklog + 10 {
		if r := e.find(t, key(i)); r.Absent != nil {
			t.Fatalf("key %d: got a no, want maybe", i)
		}
	}
}
