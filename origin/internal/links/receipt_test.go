package links_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// waits is a barrier that notes what it was to wait for.
type waits struct {
	published *recorder
	receipt   links.Receipt
	takes     time.Duration

	asked     [][]links.Position
	committed []time.Time
	told      []int // changes published by then
}

func (w *waits) Wait(_ context.Context, committed time.Time, positions []links.Position) links.Receipt {
	w.asked = append(w.asked, positions)
	w.committed = append(w.committed, committed)
	w.told = append(w.told, len(w.published.changes))
	if w.takes > 0 {
		<-time.After(w.takes)
	}
	return w.receipt
}

// at is where the code's last change stands.
func (m *memory) at(code string) links.Position {
	key := link.Key{Code: code}
	return links.Position{Epoch: 1, Shard: feed.Shard(key.Hash()), Seq: m.rows[key].Version}
}

func TestEveryWriteWaitsForItsPositionOncePublished(t *testing.T) {
	t.Parallel()
	f := newFixture()
	key := link.Key{Code: "a"}
	want := links.Receipt{Ack: links.AckEdges, Edges: 3, Acked: 2}
	for i, write := range []func() (links.Receipt, error){
		func() (links.Receipt, error) {
			w, err := f.Create(t.Context(), links.Caller{}, aliased("a"), links.AckEdges)
			return w.Receipt, err
		},
		func() (links.Receipt, error) {
			w, err := f.Patch(t.Context(), links.Caller{}, key, &links.Input{Title: links.Value("t")}, nil, links.AckEdges)
			return w.Receipt, err
		},
		func() (links.Receipt, error) { return f.Delete(t.Context(), links.Caller{}, key, nil, links.AckEdges) },
	} {
		receipt, err := write()
		receipt.Took = 0
		if err != nil || receipt != want {
			t.Fatalf("write %d: receipt %+v, %v, want %+v", i, receipt, err, want)
		}
		if len(f.waits.asked) != i+1 || !slices.Equal(f.waits.asked[i], []links.Position{f.store.at("a")}) {
			t.Fatalf("write %d: waited for %v, want %v", i, f.waits.asked, f.store.at("a"))
		}
		if f.waits.told[i] != i+1 {
			t.Errorf("write %d: %d changes were published when the wait began, want %d", i, f.waits.told[i], i+1)
		}
	}
}

func TestACommitIsWaitedForAlone(t *testing.T) {
	t.Parallel()
	f := newFixture()
	w, err := f.Create(t.Context(), links.Caller{}, aliased("a"), links.AckCommit)
	w.Receipt.Took = 0
	if err != nil || w.Receipt != (links.Receipt{Ack: links.AckCommit}) || len(f.waits.asked) != 0 {
		t.Errorf("receipt %+v, %v, waited for %v, want nothing claimed", w.Receipt, err, f.waits.asked)
	}
	if len(f.published.changes) != 1 {
		t.Errorf("published %d changes, want 1", len(f.published.changes))
	}
}

func TestWhatWroteNothingClaimsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture()
	outcomes, receipt, err := f.Bulk(t.Context(), links.Caller{}, []*links.Input{to("nonsense")}, links.AckEdges)
	if err != nil || outcomes[0].Err == nil || receipt != (links.Receipt{Ack: links.AckCommit}) {
		t.Errorf("Bulk of one bad input = %+v, %+v, %v", outcomes, receipt, err)
	}
	if _, err := f.Delete(t.Context(), links.Caller{}, link.Key{Code: "a"}, nil, links.AckEdges); err == nil {
		t.Error("a link that is not there was deleted")
	}
	if len(f.waits.asked) != 0 {
		t.Errorf("waited for %v, want nothing", f.waits.asked)
	}
}

// Whoever made it may still be waiting for edges, or may have died before they were told.
func TestALinkThatIsFoundIsWaitedForAsIfMade(t *testing.T) {
	t.Parallel()
	f := newFixture()
	found := plain(7)
	f.store.found = &found
	in := to("https://example.com/")
	in.Reuse = links.Value(true)
	w, err := f.Create(t.Context(), links.Caller{}, in, links.AckEdges)
	want := links.Position{Epoch: found.Epoch, Shard: feed.Shard(found.Key.Hash()), Seq: 7}
	if err != nil || !w.Reused || w.Receipt.Edges != 3 || w.Receipt.Acked != 2 || len(f.waits.asked) != 1 || !slices.Equal(f.waits.asked[0], []links.Position{want}) {
		t.Errorf("Create = %+v, %v, waited for %v, want %v", w, err, f.waits.asked, want)
	}
	if w, err = f.Create(t.Context(), links.Caller{}, in, links.AckCommit); err != nil || w.Receipt.Ack != links.AckCommit || len(f.waits.asked) != 1 {
		t.Errorf("with ack=commit: %+v, %v, waited for %v, want nothing more", w.Receipt, err, f.waits.asked)
	}
	if len(f.published.changes) != 0 {
		t.Errorf("published %v, want nothing", f.published.changes)
	}
}

func TestARowThatIsAsItWasToBeIsWaitedFor(t *testing.T) {
	t.Parallel()
	f := newFixture()
	patch := &links.DomainInput{HomeURL: links.Value("https://home.example/")}
	for i, write := range []func() (links.Receipt, error){
		func() (links.Receipt, error) {
			w, err := f.PatchDomain(t.Context(), "", patch, nil, links.AckEdges)
			return w.Receipt, err
		},
		func() (links.Receipt, error) {
			w, err := f.PutBlock(t.Context(), &links.BlockInput{Host: links.Value("bad.example")}, links.AckEdges)
			return w.Receipt, err
		},
	} {
		for _, changes := range []int{i + 1, i + 1} { // the second time none
			receipt, err := write()
			want := []links.Position{{Epoch: 1, Shard: feed.ConfigShard, Seq: f.store.seq}}
			last := len(f.waits.asked) - 1
			if err != nil || receipt.Edges != 3 || last < 0 || !slices.Equal(f.waits.asked[last], want) {
				t.Errorf("write %d: receipt %+v, %v, waited for %v, want %v", i, receipt, err, f.waits.asked, want)
			}
			if len(f.published.changes) != changes {
				t.Errorf("write %d: %d changes, want %d", i, len(f.published.changes), changes)
			}
		}
	}
	if len(f.waits.asked) != 4 {
		t.Errorf("waited %d times, want with each write", len(f.waits.asked))
	}
}

func TestABulkWaitsOnceForTheLastPositionOfEachShard(t *testing.T) {
	t.Parallel()
	f := newFixture()
	var ins []*links.Input
	for range 200 {
		ins = append(ins, to("https://example.com/"))
	}
	if _, _, err := f.Bulk(t.Context(), links.Caller{}, ins, links.AckEdges); err != nil {
		t.Fatal(err)
	}
	if len(f.waits.asked) != 1 {
		t.Fatalf("waited %d times, want once", len(f.waits.asked))
	}
	want := make(map[int]uint64)
	for _, c := range f.published.changes {
		want[c.Shard] = c.Seq
	}
	got := make(map[int]uint64)
	for _, p := range f.waits.asked[0] {
		got[p.Shard] = p.Seq
	}
	if len(f.waits.asked[0]) != len(want) {
		t.Errorf("waited for %d positions, want one in each of %d shards", len(f.waits.asked[0]), len(want))
	}
	for shard, seq := range want {
		if got[shard] != seq {
			t.Errorf("shard %d: waited for %d, want %d", shard, got[shard], seq)
		}
	}
}

func TestAReceiptTellsTheTimeOfTheWholeCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.store.takes, f.waits.takes = 2*time.Second, 3*time.Second
		start := time.Now()
		w, err := f.Create(t.Context(), links.Caller{}, aliased("a"), links.AckEdges)
		if err != nil || w.Receipt.Took != 5*time.Second {
			t.Errorf("took %v, %v, want 5s", w.Receipt.Took, err)
		}
		if got := f.waits.committed[0].Sub(start); got != 2*time.Second {
			t.Errorf("the wait counts from %v after the call, want from the commit at 2s", got)
		}
	})
}

func TestADomainIsToldAsALinkIs(t *testing.T) {
	t.Parallel()
	f := newFixture()
	receipt, err := f.RegisterDomain(t.Context(), "new.example", links.AckEdges)
	if err != nil || receipt.Edges != 3 || receipt.Acked != 2 {
		t.Errorf("RegisterDomain = %+v, %v", receipt, err)
	}
	if want := []links.Position{{Epoch: 1, Shard: feed.ConfigShard, Seq: 1}}; len(f.waits.asked) != 1 || !slices.Equal(f.waits.asked[0], want) {
		t.Errorf("waited for %v, want %v", f.waits.asked, want)
	}
	if len(f.published.changes) != 1 || f.published.changes[0].Value != `{"host":"new.example"}` {
		t.Errorf("published %+v", f.published.changes)
	}
	receipt, err = f.RegisterDomain(t.Context(), "new.example", links.AckEdges)
	receipt.Took = 0
	if err != nil || receipt != (links.Receipt{Ack: links.AckCommit}) || len(f.published.changes) != 1 {
		t.Errorf("again: %+v, %v, %d changes, want nothing new", receipt, err, len(f.published.changes))
	}
}
