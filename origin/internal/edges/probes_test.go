package edges

import (
	"errors"
	"reflect"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestAMemberIsAnsweredAndDoesNotJoinAgain(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	o := newOrigin(db)
	w := db.commit(3)
	heads, err := o.Answer(t.Context(), probe(eu, 1))
	if err != nil || heads.Epoch != 1 || heads.Seq[3] != w.Seq || heads.Bound != bound.Microseconds() || heads.Now == 0 {
		t.Errorf("Answer = %+v, %v", heads, err)
	}
	if db.joins != 0 {
		t.Errorf("joins = %d, want 0", db.joins)
	}
	if got, want := o.Stats(), (ProbeStats{Answered: 1}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

// A write that commits between the first read and the join has not waited for
// the edge, so the edge must not get heads without it.
func TestHeadsAreReadAgainAfterAJoin(t *testing.T) {
	t.Parallel()
	for name, members := range map[string][]feed.Member{"unknown": nil, "another boot": {eu2}} {
		db := newDatabase(members...)
		db.onJoin = func() { db.heads.Seq[3] = 7 }
		o := newOrigin(db)
		heads, err := o.Answer(t.Context(), probe(eu, 1))
		if err != nil || heads.Seq[3] != 7 {
			t.Errorf("%s: Answer = %+v, %v, want the head as of after the join", name, heads, err)
		}
		if db.joins != 1 || o.Stats().Joined != 1 {
			t.Errorf("%s: joins = %d, counted %d, want 1", name, db.joins, o.Stats().Joined)
		}
	}
}

func TestAnEdgeThatWasTakenOffJoinsAgainBeforeItGetsHeads(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	o := newOrigin(db)
	if err := db.Leave(t.Context(), []feed.Member{eu}); err != nil {
		t.Fatal(err)
	}
	db.onJoin = func() { db.heads.Seq[3] = 7 }
	heads, err := o.Answer(t.Context(), probe(eu, 1))
	if err != nil || heads.Seq[3] != 7 || db.joins != 1 || db.left(eu) {
		t.Errorf("Answer = %+v, %v, joins %d, left %v, want heads as a member again", heads, err, db.joins, db.left(eu))
	}
	db.onJoin = func() { db.rows[0].LeftAt = time.Now() } // a barrier was faster
	db.rows[0].LeftAt = time.Now()
	if heads, err := o.Answer(t.Context(), probe(eu, 1)); !errors.Is(err, errLeft) {
		t.Errorf("Answer = %+v, %v, want %v", heads, err, errLeft)
	}
}

func TestALeavingEdgeLeavesWithoutHeads(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	o := newOrigin(db)
	w := db.commit(3)
	p := probe(eu, 1, w)
	p.Leaving = true
	if heads, err := o.Answer(t.Context(), p); err != nil || !reflect.DeepEqual(*heads, feed.Heads{}) {
		t.Errorf("Answer = %+v, %v, want zero heads", heads, err)
	}
	if !db.left(eu) || db.joins != 0 {
		t.Errorf("left %v, joins %d, want left without a join", db.left(eu), db.joins)
	}
	if !o.reached(eu, []links.Position{w}) {
		t.Error("what it had applied was not taken")
	}
	p.Member = us
	if _, err := o.Answer(t.Context(), p); err != nil || len(db.rows) != 1 {
		t.Errorf("an unknown edge that leaves: %v, %d rows, want 1", err, len(db.rows))
	}
}

func TestAnEdgeAheadOfThePrimaryBeginsAnEpoch(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	o := newOrigin(db)
	db.commit(3)
	lost := links.Position{Epoch: 1, Shard: 3, Seq: 9}
	heads, err := o.Answer(t.Context(), probe(eu, 1, lost))
	if err != nil || heads.Epoch != 2 || heads.Seq[3] != 1 {
		t.Errorf("Answer = %+v, %v, want heads of epoch 2", heads, err)
	}
	if o.reached(eu, []links.Position{{Epoch: 1, Shard: 3, Seq: 2}}) {
		t.Error("a position was taken for acknowledged that now holds something else")
	}
	if _, err := o.Answer(t.Context(), probe(eu, 1, lost)); err != nil || db.heads.Epoch != 2 {
		t.Errorf("a probe of the older epoch: %v, epoch %d, want 2 still", err, db.heads.Epoch)
	}
}

// A database from before some epochs: it has to get beyond all of them, since
// edges take nothing from an older one.
func TestAnEdgeOfAnEpochToComeTakesThePrimaryBeyondIt(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	o := newOrigin(db)
	var heads *feed.Heads
	for step := uint64(2); step <= 4; step++ {
		var err error
		if heads, err = o.Answer(t.Context(), probe(eu, 4)); err != nil || heads.Epoch != step {
			t.Fatalf("Answer = %+v, %v, want epoch %d", heads, err, step)
		}
	}
	if heads, err := o.Answer(t.Context(), probe(eu, 4, links.Position{Shard: 3, Seq: 1})); err != nil || heads.Epoch != 5 {
		t.Errorf("Answer = %+v, %v, want epoch 5, in which the edge has not been", heads, err)
	}
}

// They find out together and take their turns; the later ones find it done.
func TestManyEdgesAheadBeginOneEpoch(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	o := newOrigin(db)
	for range 2 * bumpBurst {
		if heads, err := o.bump(t.Context(), eu, 1); err != nil || heads.Epoch != 2 {
			t.Fatalf("bump = %+v, %v, want epoch 2", heads, err)
		}
	}
	if got := o.Stats().Bumped; got != 1 {
		t.Errorf("Bumped = %d, want 1", got)
	}
}

func TestEpochsBegunForEdgesAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		far := probe(eu, 1<<60)
		for range bumpBurst {
			if _, err := o.Answer(t.Context(), far); err != nil {
				t.Fatalf("Answer: %v", err)
			}
		}
		if heads, err := o.Answer(t.Context(), far); !errors.Is(err, link.ErrUnavailable) || db.heads.Epoch != 1+bumpBurst {
			t.Errorf("Answer = %+v, %v, epoch %d, want none and epoch %d", heads, err, db.heads.Epoch, 1+bumpBurst)
		}
		<-time.After(bumpEvery)
		if _, err := o.Answer(t.Context(), far); err != nil {
			t.Errorf("Answer after a while: %v", err)
		}
	})
}

func TestABumpThatAnotherOriginMadeIsAnswered(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	db.onBump = func() { db.heads.Epoch = 5 }
	o := newOrigin(db)
	heads, err := o.Answer(t.Context(), probe(eu, 1, links.Position{Shard: 3, Seq: 9}))
	if err != nil || heads.Epoch != 5 {
		t.Errorf("Answer = %+v, %v, want the epoch of the other", heads, err)
	}
}

func TestJoinsAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		for i := range joinBurst {
			if _, err := o.Answer(t.Context(), probe(feed.Member{ID: "x", Boot: strconv.Itoa(i)}, 1)); err != nil {
				t.Fatalf("join %d: %v", i, err)
			}
		}
		if _, err := o.Answer(t.Context(), probe(us, 1)); !errors.Is(err, link.ErrUnavailable) || db.joins != joinBurst {
			t.Errorf("Answer = %v, %d joins, want it refused after %d", err, db.joins, joinBurst)
		}
		if _, err := o.Answer(t.Context(), probe(eu, 1)); err != nil {
			t.Errorf("a member meanwhile: %v", err)
		}
		<-time.After(time.Second / joinRate)
		if _, err := o.Answer(t.Context(), probe(us, 1)); err != nil {
			t.Errorf("a join later: %v", err)
		}
	})
}

func TestThereAreNoMoreEdgesThanThereMayBe(t *testing.T) {
	t.Parallel()
	var members []feed.Member
	for i := range maxMembers {
		members = append(members, feed.Member{ID: strconv.Itoa(i), Boot: "1"})
	}
	db := newDatabase(members...)
	o := newOrigin(db)
	if _, err := o.Answer(t.Context(), probe(eu, 1)); !errors.Is(err, link.ErrUnavailable) || db.joins != 0 {
		t.Errorf("Answer = %v, %d joins, want none", err, db.joins)
	}
	if _, err := o.Answer(t.Context(), probe(members[0], 1)); err != nil {
		t.Errorf("a member: %v", err)
	}
}

func TestWithoutPostgreSQLProbesAcknowledgeAndGetNoHeads(t *testing.T) {
	t.Parallel()
	db := newDatabase(eu)
	o := newOrigin(db)
	w := db.commit(3)
	db.down = true
	if heads, err := o.Answer(t.Context(), probe(eu, 1, w)); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("Answer = %+v, %v, want %v", heads, err, link.ErrUnavailable)
	}
	if !o.reached(eu, []links.Position{w}) {
		t.Error("the probe acknowledged nothing")
	}
	if got, want := o.Stats(), (ProbeStats{Refused: 1}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}
