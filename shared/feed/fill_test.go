package feed

import "testing"

func TestAFillAsksForTheHighestFloor(t *testing.T) {
	t.Parallel()
	table := newTable(1, 10)
	for _, step := range []struct {
		kind Kind
		want uint64
	}{{0, 10}, {Create, 11}, {Changed, 12}, {Create, 13}} {
		if step.kind != 0 {
			table.Apply(change(step.want, step.kind))
		}
		view, _ := table.View(key().Hash())
		if got, want := view.Fill(), (Fill{Epoch: 1, MinSeq: step.want}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestWhatAnswersAFill(t *testing.T) {
	t.Parallel()
	need := Fill{Epoch: 2, MinSeq: 10}
	for _, c := range []struct {
		epoch, position uint64
		want            bool
	}{{2, 10, true}, {2, 11, true}, {2, 9, false}, {1, 11, false}, {3, 11, false}} {
		if got := need.MayJoin(Fill{Epoch: c.epoch, MinSeq: c.position}); got != c.want {
			t.Errorf("join a fill of epoch %d and min_seq %d: got %v, want %v", c.epoch, c.position, got, c.want)
		}
		if got := need.AnsweredBy(&Entry{Epoch: c.epoch, AsOf: c.position}); got != c.want {
			t.Errorf("an entry of epoch %d as of %d: got %v, want %v", c.epoch, c.position, got, c.want)
		}
	}
}
