package links_test

import (
	"context"
	"errors"
	"testing"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

// onceOf asks for an input to be carried out once.
func onceOf(in *links.Input, once *links.Once) *links.Input {
	in.Once = once
	return in
}

func TestCallsAreTheirKeysOwn(t *testing.T) {
	t.Parallel()
	request := [32]byte{1}
	once := links.Caller{Key: "k1"}.Once("name", request)
	for what, other := range map[string]links.Once{
		"another key":  links.Caller{Key: "k2"}.Once("name", request),
		"another name": links.Caller{Key: "k1"}.Once("name2", request),
		"their border": links.Caller{Key: "k1n"}.Once("ame", request),
	} {
		if once.Call == other.Call {
			t.Errorf("%s has the same call", what)
		}
	}
	if again := (links.Caller{Key: "k1", Admin: true}).Once("name", request); again != once {
		t.Errorf("got %v, want the same for the same key and name", again)
	}
	if item := once.At(7); item.Call != once.Call || item.Item != 7 || once.Item != 0 {
		t.Errorf("At(7) = %+v of %+v", item, once)
	}
}

// What was carried out is not even checked again: what was right then may be refused now.
func TestWhatWasDoneOnceIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	f := newFixture()
	once := links.Caller{Key: "k"}.Once("n", [32]byte{})
	made := plain(7)
	f.ledger.answers = map[links.Once]links.Result{once: {Link: made, Replayed: true, Epoch: 2}}
	written, err := f.Create(t.Context(), links.Caller{Key: "k"}, onceOf(to("gopher://x/"), once.At(0)), links.AckEdges)
	if err != nil || !written.Replayed || written.Link.Version != 7 || written.Link.Epoch != 1 {
		t.Errorf("Create: %+v, %v, want the link of before", written, err)
	}
	at := links.Position{Epoch: 2, Shard: feed.Shard(made.Key.Hash()), Seq: 7}
	if written.Receipt.Edges != 3 || len(f.waits.asked) != 1 || f.waits.asked[0][0] != at {
		t.Errorf("receipt %+v after waits for %+v, want one for %+v, in the epoch of now", written.Receipt, f.waits.asked, at)
	}
	if len(f.store.rows) != 0 || len(f.published.changes) != 0 {
		t.Errorf("wrote %v and published %v, want nothing", f.store.rows, f.published.changes)
	}
}

func TestAnotherRequestUnderTheSameNameIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	f := newFixture()
	once := links.Caller{Key: "k"}.Once("n", [32]byte{})
	f.ledger.answers = map[links.Once]links.Result{*once.At(1): {Err: links.ErrOtherRequest}}
	ins := []*links.Input{onceOf(aliased("a"), once.At(0)), onceOf(aliased("b"), once.At(1))}
	if _, _, err := f.Bulk(t.Context(), links.Caller{}, ins, links.AckEdges); !errors.Is(err, links.ErrOtherRequest) {
		t.Errorf("Bulk: %v, want ErrOtherRequest", err)
	}
	if _, err := f.Done(t.Context(), once, 2); !errors.Is(err, links.ErrOtherRequest) {
		t.Errorf("Done: %v, want ErrOtherRequest", err)
	}
	if len(f.store.rows) != 0 {
		t.Errorf("wrote %v, want nothing", f.store.rows)
	}
}

// spent is a store at which another request got ahead with the name of the call.
type spent struct{ *memory }

func (spent) Write(_ context.Context, ms []links.Mutation) ([]links.Result, error) {
	results := make([]links.Result, len(ms))
	for i := range results {
		results[i].Err = links.ErrOtherRequest
	}
	return results, nil
}

func TestACallThatIsSpentMeanwhileIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	f := newFixture()
	service := links.New(links.Deps{
		Store: spent{f.store}, Config: f.store, Records: f.ledger, Codes: &counting{}, Publisher: f.published, Barrier: f.waits,
	})
	once := links.Caller{Key: "k"}.Once("n", [32]byte{})
	ins := []*links.Input{onceOf(aliased("a"), once.At(0)), onceOf(aliased("b"), once.At(1))}
	if got, _, err := service.Bulk(t.Context(), links.Caller{}, ins, links.AckEdges); !errors.Is(err, links.ErrOtherRequest) {
		t.Errorf("Bulk: %+v, %v, want ErrOtherRequest", got, err)
	}
}

func TestTheRestOfAHalfDoneBulkIsDone(t *testing.T) {
	t.Parallel()
	f := newFixture()
	once := links.Caller{Key: "k"}.Once("n", [32]byte{})
	f.ledger.answers = map[links.Once]links.Result{
		*once.At(0): {Link: plain(7), Replayed: true},
		*once.At(2): {Link: plain(9), Replayed: true, Reused: true},
	}
	var ins []*links.Input
	for i, alias := range []string{"a", "b", "c", "d"} {
		ins = append(ins, onceOf(aliased(alias), once.At(i)))
	}
	outcomes, receipt, err := f.Bulk(t.Context(), links.Caller{}, ins, links.AckEdges)
	if err != nil || receipt.Edges != 3 {
		t.Fatalf("Bulk: receipt %+v, %v", receipt, err)
	}
	for i, want := range []struct {
		code             string
		version          uint64
		replayed, reused bool
	}{{"x", 7, true, false}, {"b", 1, false, false}, {"x", 9, true, true}, {"d", 2, false, false}} {
		o := outcomes[i]
		if o.Err != nil || o.Link.Key.Code != want.code || o.Link.Version != want.version || o.Replayed != want.replayed || o.Reused != want.reused {
			t.Errorf("outcome %d = %+v, want %+v", i, o, want)
		}
	}
	if f.store.rows[link.Key{Code: "a"}] != nil || f.store.rows[link.Key{Code: "c"}] != nil {
		t.Errorf("wrote %v, want b and d only", f.store.rows)
	}
	done, err := f.Done(t.Context(), once, 4)
	if err != nil || !done[0] || done[1] || !done[2] || done[3] {
		t.Errorf("Done = %v, %v, want the first and the third", done, err)
	}
}
