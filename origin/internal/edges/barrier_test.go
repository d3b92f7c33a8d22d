package edges

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

// full is how long a wait lasts for an edge that says nothing.
const full = bound + bound/100

// timed is a wait that starts right after the commit, and how long it took by
// the bubble's clock.
func (o *origin) timed(t *testing.T, positions ...links.Position) (links.Receipt, time.Duration) {
	t.Helper()
	start := time.Now()
	r := o.Wait(t.Context(), start, positions)
	return r, time.Since(start)
}

// want holds a wait against what it should have said, and how long it should
// have taken.
func want(t *testing.T, what string, r links.Receipt, took time.Duration, edges, acked int, lasted time.Duration) {
	t.Helper()
	if want := (links.Receipt{Ack: links.AckEdges, Edges: edges, Acked: acked}); r != want {
		t.Errorf("%s: receipt %+v, want %+v", what, r, want)
	}
	if took != lasted {
		t.Errorf("%s: took %v, want %v", what, took, lasted)
	}
}

// later does something in the bubble after d, within the test.
func later(t *testing.T, d time.Duration, do func()) {
	t.Helper()
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		defer close(done)
		do()
	})
	t.Cleanup(func() {
		if !timer.Stop() {
			<-done
		}
	})
}

func TestAWaitEndsWithTheLastAcknowledgement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu, us)
		o := newOrigin(db)
		w := db.commit(3)
		later(t, 2*time.Millisecond, func() { o.ack(us, w) })
		later(t, 5*time.Millisecond, func() { o.ack(eu, w) })
		r, took := o.timed(t, w)
		want(t, "two edges", r, took, 2, 2, 5*time.Millisecond)
	})
}

func TestAnAcknowledgementBeforeTheWaitCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		w := db.commit(3)
		o.ack(eu, w)
		r, took := o.timed(t, w)
		want(t, "acked before", r, took, 1, 1, 0)
	})
}

func TestWithoutEdgesThereIsNothingToWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase()
		r, took := newOrigin(db).timed(t, db.commit(3))
		want(t, "no edges", r, took, 0, 0, 0)
	})
}

func TestOnlyPositionsOfTheWriteOrBeyondCount(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		acked []links.Position
		want  int
	}{
		{"the position", []links.Position{{Epoch: 1, Shard: 3, Seq: 5}}, 1},
		{"one beyond", []links.Position{{Epoch: 1, Shard: 3, Seq: 9}}, 1},
		{"one before", []links.Position{{Epoch: 1, Shard: 3, Seq: 4}}, 0},
		{"another shard", []links.Position{{Epoch: 1, Shard: 4, Seq: 5}}, 0},
		{"an older epoch", []links.Position{{Epoch: 0, Shard: 3, Seq: 5}}, 0},
		{"a newer epoch", []links.Position{{Epoch: 2, Shard: 3, Seq: 5}}, 0},
		{"an older epoch later", []links.Position{{Epoch: 1, Shard: 3, Seq: 4}, {Epoch: 0, Shard: 3, Seq: 9}}, 0},
		{"an older epoch before", []links.Position{{Epoch: 0, Shard: 3, Seq: 9}, {Epoch: 1, Shard: 3, Seq: 4}}, 0},
		{"late and out of order", []links.Position{{Epoch: 1, Shard: 3, Seq: 5}, {Epoch: 1, Shard: 3, Seq: 2}, {Epoch: 0, Shard: 3, Seq: 9}}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := newDatabase(eu)
				db.heads.Seq[3], db.heads.Seq[4] = 9, 9
				o := newOrigin(db)
				for _, p := range tc.acked {
					o.ack(eu, p)
				}
				r, took := o.timed(t, links.Position{Epoch: 1, Shard: 3, Seq: 5})
				lasted := time.Duration(0)
				if tc.want == 0 {
					lasted = full
				}
				want(t, tc.name, r, took, 1, tc.want, lasted)
			})
		})
	}
}

func TestAllPositionsOfABulkAreWaitedForAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu, us)
		o := newOrigin(db)
		writes := []links.Position{db.commit(3), db.commit(40), db.commit(feed.ConfigShard)}
		later(t, time.Millisecond, func() { o.ack(eu, writes...) })
		later(t, 2*time.Millisecond, func() { o.ack(us, writes[0]) })
		later(t, 3*time.Millisecond, func() { o.ack(us, writes[2]) })
		later(t, 7*time.Millisecond, func() { o.ack(us, writes[1]) })
		r, took := o.timed(t, writes...)
		want(t, "bulk", r, took, 2, 2, 7*time.Millisecond)
	})
}

// A silent edge costs one write the bound, those in the bound after that what is
// left of it, and later ones nothing.
func TestASilentEdgeIsWaitedForAndThenTakenOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu, us)
		o := newOrigin(db)
		write := func() (links.Receipt, time.Duration) {
			w := db.commit(3)
			o.ack(us, w)
			return o.timed(t, w)
		}
		r, took := write()
		want(t, "first write", r, took, 2, 1, full)
		if !db.left(eu) || db.left(us) {
			t.Errorf("left: eu %v, us %v, want eu alone", db.left(eu), db.left(us))
		}
		if got := o.Silent(); got != 1 {
			t.Errorf("Silent = %d, want 1", got)
		}
		<-time.After(400 * time.Millisecond)
		r, took = write()
		want(t, "a write 0.4 s after it left", r, took, 2, 1, full-400*time.Millisecond)
		r, took = write()
		want(t, "a write once its leases have ended", r, took, 1, 1, 0)
		if got := o.Silent(); got != 1 {
			t.Errorf("Silent = %d after it had left, want 1", got)
		}
	})
}

// Acknowledgements are lost, probes are answered: the edge's leases run on, so
// it must be waited for, and what its probes say counts.
func TestWhatAProbeHasAppliedCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		w := db.commit(3)
		later(t, 150*time.Millisecond, func() {
			if _, err := o.Answer(t.Context(), probe(eu, 1, w)); err != nil {
				t.Errorf("Answer: %v", err)
			}
		})
		r, took := o.timed(t, w)
		want(t, "probed", r, took, 1, 1, 150*time.Millisecond)
	})
}

// Where they are answered by another origin the bound has to do, each time: the
// edge joins again with its next probe, and by then has the write.
func TestAnEdgeHeardByAnotherOriginOnlyIsWaitedForEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		writer, other := newOrigin(db), newOrigin(db)
		for range 3 {
			w := db.commit(3)
			later(t, 100*time.Millisecond, func() { other.ack(eu, w) })
			r, took := writer.timed(t, w)
			want(t, "writer", r, took, 1, 0, full)
			if !db.left(eu) {
				t.Fatal("the edge was not taken off")
			}
			heads, err := other.Answer(t.Context(), probe(eu, 1, w))
			if err != nil || heads.Seq[3] != w.Seq || db.left(eu) {
				t.Fatalf("Answer = %+v, %v, left %v, want heads with the write, as a member", heads, err, db.left(eu))
			}
		}
	})
}

func TestAnOriginThatHasJustStartedLearnsFromTheNextProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu, us)
		before := newOrigin(db)
		before.ack(eu, db.commit(3))
		restarted := newOrigin(db)
		w := db.commit(3)
		later(t, time.Millisecond, func() { restarted.ack(us, w) })
		later(t, 200*time.Millisecond, func() { _, _ = restarted.Answer(t.Context(), probe(eu, 1, w)) })
		r, took := restarted.timed(t, w)
		want(t, "restarted", r, took, 2, 2, 200*time.Millisecond)
	})
}

func TestAnEdgeThatJoinsDuringTheWaitHasTheWriteInItsHeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		w := db.commit(3)
		later(t, 100*time.Millisecond, func() {
			heads, err := o.Answer(t.Context(), probe(us, 1))
			if err != nil || heads.Seq[3] < w.Seq {
				t.Errorf("Answer = %+v, %v, want heads with position %d", heads, err, w.Seq)
			}
		})
		later(t, 300*time.Millisecond, func() { o.ack(eu, w) })
		r, took := o.timed(t, w)
		want(t, "joined meanwhile", r, took, 1, 1, 300*time.Millisecond)
	})
}

func TestAnEdgeThatLeftCleanlyCountsUntilItsLeasesHaveEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		leaving := probe(eu, 1)
		leaving.Leaving = true
		if _, err := o.Answer(t.Context(), leaving); err != nil {
			t.Fatal(err)
		}
		<-time.After(900 * time.Millisecond)
		r, took := o.timed(t, db.commit(3))
		want(t, "0.9 s after it left", r, took, 1, 0, full-900*time.Millisecond)
		r, took = o.timed(t, db.commit(3))
		want(t, "after its last lease", r, took, 0, 0, 0)
	})
}

func TestAnEpochThatBeginsDuringAWaitConfirmsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu, us)
		o := newOrigin(db)
		w := db.commit(3)
		o.ack(us, w)
		later(t, 100*time.Millisecond, func() {
			db.set(func(db *database) { db.heads.Epoch = 2 })
			if _, err := o.Answer(t.Context(), probe(eu, 2, links.Position{Epoch: 2, Shard: 3, Seq: w.Seq})); err != nil {
				t.Errorf("Answer: %v", err)
			}
		})
		r, took := o.timed(t, w)
		want(t, "epoch bumped", r, took, 2, 1, full)
		w = db.commit(3)
		later(t, time.Millisecond, func() {
			o.ack(eu, w)
			o.ack(us, w)
		})
		r, took = o.timed(t, w)
		want(t, "next write, of the new epoch", r, took, 2, 2, time.Millisecond)
	})
}

func TestTheBoundIsPostgreSQLs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		db.bound = 3 * time.Second
		r, took := newOrigin(db).timed(t, db.commit(3))
		want(t, "a longer bound", r, took, 1, 0, 3*time.Second+30*time.Millisecond)
	})
}

func TestTheWaitCountsFromTheCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		committed := time.Now()
		w := db.commit(3)
		<-time.After(600 * time.Millisecond)
		o.Wait(t.Context(), committed, []links.Position{w})
		if got := time.Since(committed); got != full {
			t.Errorf("ended %v after the commit, want %v", got, full)
		}
	})
}

func TestAClientThatGoesAwayDoesNotKeepASilentEdgeOnTheList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		r := o.Wait(ctx, start, []links.Position{db.commit(3)})
		want(t, "client gone", r, time.Since(start), 1, 0, full)
		if !db.left(eu) {
			t.Error("the edge was not taken off")
		}
	})
}

func TestWithoutPostgreSQLTheWholeBoundIsWaited(t *testing.T) {
	t.Parallel()
	t.Run("edges are known", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			db := newDatabase(eu, us)
			o := newOrigin(db)
			if _, err := o.Heads(t.Context()); err != nil {
				t.Fatal(err)
			}
			w := db.commit(3)
			db.set(func(db *database) { db.down = true })
			o.ack(eu, w)
			r, took := o.timed(t, w)
			want(t, "down", r, took, 2, 1, full)
			o.ack(us, w)
			r, took = o.timed(t, w)
			want(t, "down, and all that are known have it", r, took, 2, 2, full)
			db.set(func(db *database) { db.down = false })
			if db.left(us) {
				t.Error("an edge was taken off that might have been heard")
			}
		})
	})
	t.Run("none is known", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			db := newDatabase(eu)
			w := db.commit(3)
			db.down = true
			r, took := newOrigin(db).timed(t, w)
			if r != (links.Receipt{Ack: links.AckCommit}) || took != full {
				t.Errorf("receipt %+v after %v, want none claimed after %v", r, took, full)
			}
		})
	})
	t.Run("it comes back", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			db := newDatabase(eu, us)
			o := newOrigin(db)
			w := db.commit(3)
			o.ack(eu, w)
			o.ack(us, w)
			db.down = true
			later(t, 450*time.Millisecond, func() { db.set(func(db *database) { db.down = false }) })
			r, took := o.timed(t, w)
			want(t, "back", r, took, 2, 2, 500*time.Millisecond)
		})
	})
}

func TestPostgreSQLThatFailsDuringAWaitKeepsSilentEdgesOnTheList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu, us)
		o := newOrigin(db)
		w := db.commit(3)
		o.ack(us, w)
		later(t, 100*time.Millisecond, func() { db.set(func(db *database) { db.down = true }) })
		r, took := o.timed(t, w)
		want(t, "failed meanwhile", r, took, 2, 1, full)
		if db.left(eu) {
			t.Error("eu has left without PostgreSQL")
		}
	})
}
