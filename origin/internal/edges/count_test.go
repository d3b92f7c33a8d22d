package edges

import (
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/links"
)

// PostgreSQL was put back to before position 40, without a new epoch, and the
// write got a position that the edge had seen.
func TestAnEdgeOfAHistoryThatIsLostIsNotCounted(t *testing.T) {
	t.Parallel()
	lost := links.Position{Epoch: 1, Shard: 3, Seq: 100}
	for name, when := range map[string]time.Duration{"before the write": 0, "after it": 2 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := newDatabase(eu, us)
				db.heads.Seq[3] = 39
				o := newOrigin(db)
				if when == 0 {
					o.ack(eu, lost)
				}
				w := db.commit(3)
				later(t, 2*time.Millisecond, func() {
					o.ack(us, w)
					o.ack(eu, lost) // the write is a repeat to it
				})
				r, took := o.timed(t, w)
				want(t, "lost history", r, took, 2, 1, 2*time.Millisecond)
				if db.left(eu) {
					t.Error("the edge was taken off, which is not silent")
				}
			})
		})
	}
}

func TestAnEdgeThatIsFurtherThanTheRosterIsCountedOnceTheRosterIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		w := db.commit(3)
		later(t, 2*time.Millisecond, func() {
			db.commit(3)
			o.ack(eu, db.commit(3))
		})
		r, took := o.timed(t, w)
		want(t, "two writes more", r, took, 1, 1, 2*time.Millisecond)
	})
}

func TestNobodyIsCountedOnAGuess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(eu)
		o := newOrigin(db)
		w := db.commit(3)
		later(t, 2*time.Millisecond, func() {
			o.ack(eu, db.commit(3))
			db.set(func(db *database) { db.down = true })
		})
		r, took := o.timed(t, w)
		want(t, "PostgreSQL is gone", r, took, 1, 0, 2*time.Millisecond)
	})
}
