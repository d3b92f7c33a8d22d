package feed

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"waypost/shared/link"
)

// fewSlots keeps files small enough to be damaged at every byte.
const fewSlots = 2

func savedTable(t *testing.T) (*Table, *Saved) {
	t.Helper()
	table := NewTable(fewSlots, 99)
	n := shardOf(key())
	table.Reset(n, 3, 1000)
	for seq, kind := range []Kind{Changed, Create, Purge} {
		c := change(uint64(1001+seq), kind)
		c.Epoch = 3
		if got := table.Apply(c); got != Applied {
			t.Fatalf("position %d: got outcome %d", c.Seq, got)
		}
	}
	table.Answer(n, 3, 77, 1003)
	table.Reset(ConfigShard, 3, 12)
	table.Reset((n+1)%Shards, 2, 5)
	table.Adopt((n+2)%Shards, 1)
	cfg, err := ParseConfig([]byte(`{"epoch":3,"seq":12,"rows":{"domain/go.example":"{\"host\":\"go.example\"}"}}`))
	if err != nil {
		t.Fatal(err)
	}
	saved, err := ParseSaved(savedBytes(table, cfg), fewSlots)
	if err != nil {
		t.Fatal(err)
	}
	return table, saved
}

// savedBytes are a table's, with a config.
func savedBytes(table *Table, cfg *Config) []byte {
	return table.Append(nil, func() *Config { return cfg }, func() {})
}

// sameTable fails where what is restored is not what was there.
func sameTable(t *testing.T, got, want *Table) {
	t.Helper()
	if got.seed != want.seed || got.slots != want.slots {
		t.Errorf("seed and size: got %d, %d, want %d, %d", got.seed, got.slots, want.seed, want.slots)
	}
	for n := range want.shard {
		g, w := got.shard[n].state.Load(), want.shard[n].state.Load()
		if (g == nil) != (w == nil) {
			t.Errorf("shard %d: got state %v, want %v", n, g, w)
		}
		if g == nil || w == nil {
			continue
		}
		if g.epoch != w.epoch || g.applied.Load() != w.applied.Load() || g.base.Load() != w.base.Load() {
			t.Errorf("shard %d: got (%d, %d, %d), want (%d, %d, %d)", n,
				g.epoch, g.applied.Load(), g.base.Load(), w.epoch, w.applied.Load(), w.base.Load())
		}
		if len(g.slots) != len(w.slots) {
			t.Fatalf("shard %d: got %d slots, want %d", n, len(g.slots), len(w.slots))
		}
		for i := range w.slots {
			if g.slots[i].changed.Load() != w.slots[i].changed.Load() || g.slots[i].created.Load() != w.slots[i].created.Load() {
				t.Errorf("shard %d: the floors of slot %d differ", n, i)
			}
		}
	}
}

func TestATableComesBackAsItWasSaved(t *testing.T) {
	t.Parallel()
	table, saved := savedTable(t)
	rests := 0
	b := table.Append([]byte("before"), func() *Config { return saved.Config }, func() { rests++ })
	if rests != AllShards {
		t.Errorf("got %d rests, want one for each of %d shards", rests, AllShards)
	}
	back, err := ParseSaved(b[len("before"):], fewSlots)
	if err != nil {
		t.Fatal(err)
	}
	if back.Epoch != 3 {
		t.Errorf("epoch: got %d, want 3", back.Epoch)
	}
	if back.Config.Domain([]byte("go.example")) == nil || back.Config.Seq != 12 {
		t.Errorf("config: got %+v", back.Config)
	}
	restored := back.Restore()
	sameTable(t, restored, table)
	for n := range restored.shard {
		if got := restored.Lease(n); got != 0 {
			t.Errorf("shard %d: a lease from %d came back", n, got)
		}
	}
	next := change(1004, Changed)
	next.Epoch = 3
	if got := restored.Apply(next); got != Applied {
		t.Errorf("the next change: got outcome %d, want Applied", got)
	}
}

func TestAnEmptyTableIsSavedWithoutAConfig(t *testing.T) {
	t.Parallel()
	back, err := ParseSaved(savedBytes(NewTable(fewSlots, 5), nil), fewSlots)
	if err != nil {
		t.Fatal(err)
	}
	if back.Epoch != 0 || back.Config != nil {
		t.Errorf("got epoch %d and config %v, want none", back.Epoch, back.Config)
	}
	if _, _, ok := back.Restore().Position(0); ok {
		t.Error("a position came out of nothing")
	}
}

func TestADamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	_, saved := savedTable(t)
	good := savedBytes(saved.Restore(), saved.Config)
	for i := range good {
		if _, err := ParseSaved(good[:i], fewSlots); !errors.Is(err, ErrFormat) {
			t.Fatalf("first %d of %d bytes: got error %v, want ErrFormat", i, len(good), err)
		}
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(good)
			bad[i] ^= flip
			if _, err := ParseSaved(bad, fewSlots); !errors.Is(err, ErrFormat) {
				t.Fatalf("byte %d changed by %#x: got error %v, want ErrFormat", i, flip, err)
			}
		}
	}
	if _, err := ParseSaved(append(slices.Clone(good), 0), fewSlots); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte too many: got error %v, want ErrFormat", err)
	}
	for _, size := range []int{1, 2 * fewSlots, Slots} {
		if _, err := ParseSaved(good, size); !errors.Is(err, ErrFormat) {
			t.Errorf("for %d slots: got error %v, want ErrFormat", size, err)
		}
	}
}

// A file that is whole and yet not one that Append wrote.
func TestAFileOfAnotherWriterIsRefused(t *testing.T) {
	t.Parallel()
	_, saved := savedTable(t)
	good := savedBytes(saved.Restore(), saved.Config)
	for name, change := range map[string]func(b []byte) []byte{
		"another format":  func(b []byte) []byte { b[0]++; return b },
		"a broken config": func(b []byte) []byte { return b[:len(b)-1] },
		"no config's epoch": func(b []byte) []byte {
			return append(savedBytes(NewTable(fewSlots, 1), nil)[:17+AllShards], "{}"...)
		},
		"half of the shards": func(b []byte) []byte { return b[:17+AllShards/2] },
	} {
		b := change(slices.Clone(good[:len(good)-4]))
		if _, err := ParseSaved(binary.BigEndian.AppendUint32(b, checksum(b)), fewSlots); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
}

// A table as large as an edge's, with floors of every length.
func TestALargeTableComesBack(t *testing.T) {
	t.Parallel()
	table := NewTable(slots, 1)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range AllShards {
		table.Reset(n, 9, random.Uint64()>>1)
		s := table.shard[n].state.Load()
		for i := range s.slots {
			s.slots[i].changed.Store(random.Uint64() >> random.UintN(64))
			s.slots[i].created.Store(random.Uint64() >> random.UintN(64))
		}
	}
	back, err := ParseSaved(savedBytes(table, nil), slots)
	if err != nil {
		t.Fatal(err)
	}
	sameTable(t, back.Restore(), table)
}

// The sum keeps chance out; behind it anything is read without a fault, and
// what is accepted is what is written again.
func FuzzParseSaved(f *testing.F) {
	f.Add([]byte{})
	table := NewTable(fewSlots, 99)
	f.Add(savedBytes(table, nil))
	table.Reset(shardOf(link.Key{Code: "a"}), 1, 300)
	f.Add(savedBytes(table, &Config{Epoch: 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:max(len(b)-4, 0)]
		saved, err := ParseSaved(binary.BigEndian.AppendUint32(slices.Clone(b), checksum(b)), fewSlots)
		if err != nil {
			return
		}
		again, err := ParseSaved(savedBytes(saved.Restore(), saved.Config), fewSlots)
		if err != nil {
			t.Fatal(err)
		}
		sameTable(t, again.Restore(), saved.Restore())
	})
}
