package positions

import (
	"strings"
	"testing"
	"time"

	"waypost/bench/measure"
	"waypost/shared/feed"
)

// heardLog is a heard that a test fills.
type heardLog struct {
	*heard
	start time.Time
}

func newHeard() heardLog {
	return heardLog{&heard{changes: map[feed.Position]published{}, acks: map[feed.Member][]ack{}}, time.Now().Truncate(time.Microsecond)}
}

// at is a moment, in milliseconds from the start.
func (h heardLog) at(ms int) time.Time { return h.start.Add(time.Duration(ms) * time.Millisecond) }

// changed is a change written, committed a millisecond later, and heard after another one.
func (h heardLog) changed(t *testing.T, seq uint64, ms int) {
	t.Helper()
	c := feed.Change{Epoch: 1, Shard: 3, Seq: seq, Kind: feed.Purge, At: h.at(ms).UnixMicro()}
	if err := h.change(c.Append(nil), h.at(ms+2)); err != nil {
		t.Fatal(err)
	}
	h.Committed(feed.Position{Shard: 3, Seq: seq}, h.at(ms+1))
}

// acked is an edge's word.
func (h heardLog) acked(t *testing.T, id string, seq uint64, ms int) {
	t.Helper()
	a := feed.Ack{Member: feed.Member{ID: id, Boot: "b"}, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: seq}}}
	if err := h.ack(a.Append(nil), h.at(ms)); err != nil {
		t.Fatal(err)
	}
}

// heads are positions at which shard 3 is at seq.
func heads(seq uint64) *feed.Heads {
	h := &feed.Heads{Epoch: 1}
	h.Seq[3] = seq
	return h
}

func edgesOnly(id string) bool { return strings.HasPrefix(id, "edge") }

func TestSpreadLastsUntilTheLastMemberHasTheChange(t *testing.T) {
	t.Parallel()
	h := newHeard()
	h.changed(t, 7, 0)
	h.changed(t, 8, 10)
	h.acked(t, "edge-0", 7, 5)
	h.acked(t, "edge-1", 8, 25) // it says nothing of 7 by itself
	h.acked(t, "edge-0", 8, 14)
	h.acked(t, "edge-0", 8, 99) // a repeat
	h.acked(t, "other", 8, 500)
	got := h.Spread(heads(6), heads(8), 2, edgesOnly, 0)
	if got.Changes != 2 || got.Missing != 0 {
		t.Fatalf("got %+v, want 2 changes, none missing", got)
	}
	for _, tt := range []struct {
		name string
		got  measure.Sample
		want [2]time.Duration
	}{
		{"from commit", got.FromCommit, [2]time.Duration{14 * time.Millisecond, 24 * time.Millisecond}},
		{"from write", got.FromWrite, [2]time.Duration{15 * time.Millisecond, 25 * time.Millisecond}},
		{"from heard", got.FromHeard, [2]time.Duration{13 * time.Millisecond, 23 * time.Millisecond}},
	} {
		if at := [2]time.Duration{tt.got.Quantile(0), tt.got.Max()}; at != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, at, tt.want)
		}
	}
	if back := h.Spread(heads(6), heads(8), 2, edgesOnly, 4*time.Millisecond); back.FromCommit.Max() != 20*time.Millisecond {
		t.Errorf("less 4 ms: got %s, want 20ms", back.FromCommit.Max())
	}
}

func TestSpreadTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	h := newHeard()
	h.changed(t, 1, 0)
	h.changed(t, 3, 0)
	h.acked(t, "edge-0", 3, 5)
	h.acked(t, "edge-1", 2, 5)
	// The second change was not heard, and of the third one edge's acknowledgement was not.
	if got := h.Spread(heads(0), heads(3), 2, edgesOnly, 0); got.Changes != 3 || got.Missing != 2 || got.FromCommit.N() != 1 {
		t.Errorf("got %+v, want 3 changes, 2 missing, one measured", got)
	}
}

func TestAMessageThatCannotBeReadIsMissing(t *testing.T) {
	t.Parallel()
	h := newHeard()
	h.take([]byte("none of ours"), h.change)
	h.take([]byte("none of ours"), h.ack)
	h.take(nil, h.ack) // the server's word that nobody listened
	if got := h.Spread(heads(0), heads(0), 1, edgesOnly, 0); got.Missing != 2 {
		t.Errorf("got %+v, want 2 missing", got)
	}
}

func TestANewEpochForgetsWhatWasHeard(t *testing.T) {
	t.Parallel()
	h := newHeard()
	h.changed(t, 1, 0)
	h.acked(t, "edge-0", 1, 5)
	c := feed.Change{Epoch: 2, Shard: 3, Seq: 1, Kind: feed.Purge, At: h.at(50).UnixMicro()}
	if err := h.change(c.Append(nil), h.at(52)); err != nil {
		t.Fatal(err)
	}
	if got := h.Spread(heads(0), heads(1), 1, edgesOnly, 0); got.Missing != 1 {
		t.Errorf("got %+v, want the change of the new epoch missing", got)
	}
}
