package l2

import (
	"sync"
	"testing"

	"waypost/deploy/services"
	"waypost/shared/bloom"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestKeysMadeWhileTheFilterIsBuiltAreIn(t *testing.T) {
	t.Parallel()
	o := newOrigin()
	o.page = 4
	for i := range 1000 {
		o.create(keyOf(i))
	}
	made := 0
	var mu sync.Mutex
	o.behind = func() { // between two pages, sorted before them: no page will have it
		mu.Lock()
		defer mu.Unlock()
		if made < 500 {
			o.create(link.Key{Code: "a" + keyOf(made).Code})
			made++
		}
	}
	e := newEdge(o, config(connect(t, services.Redis(t).Addr()), o))
	e.run(t)
	eventually(t, "filters are in step", func() bool { return e.inStepWith(t, o) })
	noneRefused(t, e, 1000)
	mu.Lock()
	defer mu.Unlock()
	if made == 0 {
		t.Fatal("nothing was created between pages")
	}
	for i := range made {
		if key := (link.Key{Code: "a" + keyOf(i).Code}); e.refuses(t, key) {
			t.Fatalf("%s, which was created between two pages, is refused", key)
		}
	}
}

func TestABuiltFilterStandsAtTheHead(t *testing.T) {
	t.Parallel()
	const shard = 5
	o := newOrigin()
	o.page = 1
	var made []link.Key
	create := func(prefix string) {
		for n := 0; ; n++ {
			key := link.Key{Code: prefix + keyOf(n).Code}
			if feed.Shard(key.Hash()) == shard {
				o.create(key)
				made = append(made, key)
				return
			}
		}
	}
	for _, prefix := range []string{"m", "n", "o"} {
		create(prefix)
	}
	o.behind = func() { create("a" + keyOf(len(made)).Code) } // no page will have it
	f, err := New(config(nil, o)).build(within(t), shard)
	if err != nil {
		t.Fatal(err)
	}
	if _, heads := o.heads(); f.Position != heads[shard] || f.Epoch != 1 || f.Shape != small() {
		t.Errorf("header: got %+v, want epoch 1, position %d, shape %+v", f.Header, heads[shard], small())
	}
	if len(made) <= 3 {
		t.Fatal("nothing was created between pages")
	}
	for _, key := range made {
		if !f.Has(key.Hash()) {
			t.Errorf("Has(%s): got false, want true", key)
		}
	}
}

func TestEdgesOfDifferentCapacityAgreeOnTheLarger(t *testing.T) {
	t.Parallel()
	const keys = 200
	o, e, client := filled(t, keys)
	large := config(client, o)
	large.Shape = bloom.ShapeOf(100_000, 0.01, feed.Shards)
	other := newEdge(o, large)
	other.run(t)
	larger := func() bool {
		for shard := range feed.Shards {
			h, err := bloom.ParseHeader(client.GetRange(t.Context(), e.keys[shard].filter, 0, bloom.HeaderSize-1).Val())
			if err != nil || h.Shape != large.Shape {
				return false
			}
		}
		return true
	}
	eventually(t, "filters are of the larger shape", larger)
	rebuilds := e.Stats().Rebuilds
	for i := range keys {
		o.create(keyOf(keys + i))
	}
	eventually(t, "both have moved them on", func() bool { return e.inStepWith(t, o) })
	noneRefused(t, e, 2*keys)
	noneRefused(t, other, 2*keys)
	if !larger() || e.Stats().Rebuilds != rebuilds {
		t.Errorf("the smaller edge built %d filters of its own shape again", e.Stats().Rebuilds-rebuilds)
	}
}

func TestReplaceKeepsTheBetterFilter(t *testing.T) {
	t.Parallel()
	const shard = 1
	shape, larger := small(), bloom.ShapeOf(40_000, 0.01, feed.Shards)
	client := connect(t, services.Redis(t).Addr())
	mine := bloom.Header{Shape: shape, Epoch: 2, Position: 10, Generation: 1}
	header := func(s bloom.Shape, epoch, position uint64) bloom.Header {
		return bloom.Header{Shape: s, Epoch: epoch, Position: position, Generation: 7}
	}
	for _, tc := range []struct {
		name       string
		there      bloom.Header
		cut        int
		distrusted bool
		wantKept   bool
	}{
		{"behind", header(shape, 2, 9), 0, false, false},
		{"at the same position", header(shape, 2, 10), 0, false, false},
		{"further on", header(shape, 2, 11), 0, false, true},
		{"further on but found wrong", header(shape, 2, 11), 0, true, false},
		{"further on but cut short", header(shape, 2, 11), 1, false, false},
		{"older epoch", header(shape, 1, 11), 0, false, false},
		{"newer epoch", header(shape, 3, 1), 0, false, true},
		{"larger", header(larger, 2, 1), 0, false, true},
		{"smaller", header(bloom.Shape{M: shape.M - bloom.WordBits, K: shape.K}, 2, 11), 0, false, false},
	} {
		c := New(config(client, newOrigin()))
		there := string(bloom.New(tc.there).Append(nil))
		there = there[:len(there)-tc.cut]
		if err := client.Set(t.Context(), c.keys[shard].filter, there, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if tc.distrusted {
			c.filters[shard].distrust(tc.there.Generation)
		}
		f := bloom.New(mine)
		if err := c.replace(within(t), shard, f); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		want := string(f.Append(nil))
		if tc.wantKept {
			want = there
		}
		if got := client.Get(t.Context(), c.keys[shard].filter).Val(); got != want {
			t.Errorf("%s: kept: got %v, want %v", tc.name, got == there, tc.wantKept)
		}
	}
}
