package feed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"waypost/shared/link"
)

// blockChange is a source's row of a host as a change at a position; kind is
// exact, suffix, or "" for no more.
func blockChange(tb testing.TB, seq uint64, source BlockSource, host, kind string) *Change {
	tb.Helper()
	c := &Change{Epoch: 1, Shard: ConfigShard, Seq: seq, Kind: Changed, Key: link.Key{Code: BlockRow(source, host)}}
	if kind != "" {
		value, err := json.Marshal(Block{Host: host, Suffix: kind == "suffix"})
		if err != nil {
			tb.Fatal(err)
		}
		c.Value = string(value)
	}
	return c
}

func blocking(tb testing.TB, kind string, hosts ...string) *Config {
	tb.Helper()
	cfg := NewConfig(1, 0, nil)
	for i, host := range hosts {
		cfg = cfg.With(blockChange(tb, uint64(i)+1, BlockByAPI, host, kind))
	}
	return cfg
}

func TestABlockIsForTheHostOrForAllBelowItToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, block string
		blocked     []string
		free        []string
	}{
		{"exact", "bad.example", []string{"bad.example"}, []string{"a.bad.example", "example", "notbad.example", ""}},
		{"suffix", "bad.example", []string{"bad.example", "a.bad.example", "a.b.bad.example"}, []string{"example", "notbad.example", ""}},
		{"exact", "192.0.2.1", []string{"192.0.2.1"}, []string{"0.2.1", "192.0.2.2"}},
		{"suffix", "2.1", nil, []string{"192.0.2.1"}}, // nothing lies below a part of an address
		{"exact", "[2001:db8::1]", []string{"[2001:db8::1]"}, []string{"[2001:db8::2]"}},
	} {
		list := blocking(t, c.kind, c.block).Blocks()
		for _, host := range c.blocked {
			if !list.Blocked(host) {
				t.Errorf("%s %s: %s is not blocked", c.kind, c.block, host)
			}
		}
		for _, host := range c.free {
			if list.Blocked(host) {
				t.Errorf("%s %s: %q is blocked", c.kind, c.block, host)
			}
		}
	}
}

// A list that is changed many times agrees at each step with one that is read
// whole, and with the plain definition of what it blocks.
func TestBlocksAgreeWithTheirDefinition(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	host := func() string {
		labels := make([]string, 1+rng.IntN(4))
		for i := range labels {
			labels[i] = string("abc"[rng.IntN(3)])
		}
		return strings.Join(labels, ".")
	}
	type row struct {
		source BlockSource
		host   string
	}
	rows := map[row]string{} // to its kind
	cfg := NewConfig(1, 0, nil)
	for seq := range uint64(3000) {
		r := row{[]BlockSource{BlockByAPI, BlockByFile}[rng.IntN(2)], host()}
		kind := []string{"exact", "suffix", "", ""}[rng.IntN(4)]
		if delete(rows, r); kind != "" {
			rows[r] = kind
		}
		cfg = cfg.With(blockChange(t, seq+1, r.source, r.host, kind))
		asked := host()
		want := false
		for r, kind := range rows {
			want = want || asked == r.host || kind == "suffix" && strings.HasSuffix(asked, "."+r.host)
		}
		whole, err := ParseConfig([]byte(cfg.bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for name, list := range map[string]*Blocks{"changed": cfg.Blocks(), "read whole": whole.Blocks()} {
			if got := list.Blocked(asked); got != want {
				t.Fatalf("after %d changes, %s: %s blocked: got %v, want %v by %v", seq+1, name, asked, got, want, rows)
			}
			if got := list == nil; got != (len(rows) == 0) {
				t.Fatalf("after %d changes, %s: no list: got %v with %d rows", seq+1, name, got, len(rows))
			}
		}
	}
}

func TestBothURLsOfAnEntryAreJudgedByEveryListAnew(t *testing.T) {
	t.Parallel()
	e := liveEntry()
	e.Epoch, e.Target, e.ExpiredURL = 1, "https://Bad.example:8443/x", "http://late.example."
	cfg := NewConfig(1, 0, nil)
	for i, c := range []struct {
		host, kind string
		want       Judgement
	}{
		{"other.example", "exact", 0},
		{"bad.example", "exact", TargetBlocked},
		{"late.example", "suffix", TargetBlocked | ExpiredURLBlocked},
		{"bad.example", "", ExpiredURLBlocked},
		{"late.example", "", 0},
		{"other.example", "", 0},
		{"example", "suffix", TargetBlocked | ExpiredURLBlocked},
	} {
		cfg = cfg.With(blockChange(t, uint64(i)+1, BlockByAPI, c.host, c.kind))
		for range 2 { // the second time from what the entry keeps
			if got := cfg.Blocks().Judge(e); got != c.want {
				t.Errorf("after %s %q: got %b, want %b", c.host, c.kind, got, c.want)
			}
		}
	}
	if got := cfg.Blocks().Judge(&Entry{Epoch: 1, Body: Body{State: Absent}}); got != 0 {
		t.Errorf("absent: got %b, want 0", got)
	}
}

// The same position of another epoch is another list.
func TestAJudgementIsOfItsEpoch(t *testing.T) {
	t.Parallel()
	e := liveEntry()
	e.Epoch, e.Target, e.ExpiredURL = 1, "https://bad.example/", ""
	blocked := blocking(t, "exact", "bad.example")
	other := NewConfig(2, 1, map[string]string{BlockRow(BlockByAPI, "x.example"): `{"host":"x.example"}`})
	for range 2 {
		if got := blocked.Blocks().Judge(e); got != TargetBlocked {
			t.Errorf("epoch 1: got %b, want the target blocked", got)
		}
		if got := other.Blocks().Judge(e); got != 0 {
			t.Errorf("epoch 2: got %b, want 0", got)
		}
	}
}

func TestAnEntryIsJudgedByManyAtOnce(t *testing.T) {
	t.Parallel()
	e := liveEntry()
	e.Epoch, e.Target = 1, "https://bad.example/"
	lists := []*Config{blocking(t, "exact", "bad.example"), blocking(t, "exact", "x.example", "y.example")}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 1000 {
				if got := lists[i%2].Blocks().Judge(e); (got == TargetBlocked) != (i%2 == 0) {
					t.Errorf("list %d: got %b", i%2, got)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestALimitedLinkIsJudgedByItsSites(t *testing.T) {
	t.Parallel()
	e := liveEntry()
	e.Epoch, e.Limited, e.Target, e.Sites = 1, true, "", PackSites("https://a.bad.example/secret")
	if back, err := ParseEntry(e.Append(nil)); err != nil || back.Sites != e.Sites || strings.Contains(back.Sites, "bad") {
		t.Fatalf("got %+v, %v, want the same sites", back, err)
	}
	for _, c := range []struct {
		kind, block string
		want        Judgement
	}{
		{"exact", "a.bad.example", TargetBlocked},
		{"suffix", "bad.example", TargetBlocked},
		{"exact", "bad.example", 0},
	} {
		e.judged = 0
		if got := blocking(t, c.kind, c.block).Blocks().Judge(e); got != c.want {
			t.Errorf("%s %s: got %b, want %b", c.kind, c.block, got, c.want)
		}
	}
}

// Where an edge cannot read a row, it is as if it were not there.
func TestUnreadableBlocksAreNone(t *testing.T) {
	t.Parallel()
	cfg := NewConfig(1, 1, map[string]string{
		"block/api/a.example": "?", "block/api/b.example": `{"host":"c.example"}`,
		"block/else/d.example": `{"host":"d.example"}`, "block/e.example": `{"host":"e.example"}`,
	})
	for _, host := range []string{"a.example", "b.example", "c.example", "d.example", "e.example"} {
		if cfg.Blocks().Blocked(host) {
			t.Errorf("%s is blocked by a row that does not say so", host)
		}
	}
	if cfg.Len() != 4 {
		t.Errorf("got %d rows, want all 4 kept", cfg.Len())
	}
}

// BenchmarkConfigWith is one change of a list that has as many rows as it may.
func BenchmarkConfigWith(b *testing.B) {
	for _, rows := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			cfg := NewConfig(1, 0, nil)
			hosts := make([]string, rows)
			for i := range hosts {
				hosts[i] = fmt.Sprintf("host%d.example", i)
				cfg = cfg.With(blockChange(b, uint64(i)+1, BlockByFile, hosts[i], "exact"))
			}
			changes := []*Change{
				blockChange(b, 1, BlockByFile, hosts[7], "suffix"), blockChange(b, 2, BlockByFile, hosts[7], "exact"),
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				cfg = cfg.With(changes[i%2])
			}
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	e := liveEntry()
	e.Epoch = 1
	list := blocking(b, "exact", "bad.example").Blocks()
	for name, list := range map[string]*Blocks{"empty": nil, "kept": list} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list.Judge(e) != 0 {
					b.Fatal("blocked")
				}
			}
		})
	}
}

func TestSitesArePackedInOrder(t *testing.T) {
	t.Parallel()
	want := slices.Collect(link.Sites("a.b.example"))
	if got := slices.Collect(unpackSites(PackSites("https://A.b.example./"))); !slices.Equal(got, want) || len(got) != 3 {
		t.Errorf("got %x, want %x", got, want)
	}
	if got := PackSites("mailto:a@b.example"); got != "" {
		t.Errorf("without authority: got %x, want none", got)
	}
}

// Whoever gets a host blocked must not get another one blocked with it. The first
// of these was made to have the second one's xxhash64, which takes a tenth of a
// second.
func TestNoHostIsMadeToBlockAnother(t *testing.T) {
	t.Parallel()
	blocks := blocking(t, "exact", "al6lcaaarp9mv7ot.evil.com").Blocks()
	if !blocks.Blocked("al6lcaaarp9mv7ot.evil.com") || blocks.Blocked("www.google.com") {
		t.Error("want the first host blocked, and not the other one")
	}
}
