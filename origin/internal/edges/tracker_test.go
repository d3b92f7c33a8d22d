package edges

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

func TestAcknowledgementsAreCountedByTheWayTheyCame(t *testing.T) {
	t.Parallel()
	tracker := NewTracker(new(network))
	for range 2 {
		tracker.Acks(ByNATS).Ack(&feed.Ack{Member: eu})
	}
	tracker.Acks(ByHTTP).Ack(&feed.Ack{Member: eu})
	tracker.takeProbe(&feed.Probe{Member: eu})
	for by, want := range map[Way]uint64{ByNATS: 2, ByHTTP: 1, ByProbe: 1} {
		if got := tracker.Taken(by); got != want {
			t.Errorf("Taken(%d) = %d, want %d", by, got, want)
		}
	}
}

// An edge that cannot reach the origin that waits for it has told another one.
func TestWhatOneOriginIsToldAllKnow(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(t *testing.T, o *origin, w links.Position){
		"by a probe": func(t *testing.T, o *origin, w links.Position) {
			t.Helper()
			if _, err := o.Answer(t.Context(), probe(eu, w.Epoch, w)); err != nil {
				t.Errorf("Answer: %v", err)
			}
		},
		"by HTTP": func(_ *testing.T, o *origin, w links.Position) {
			o.Acks(ByHTTP).Ack(&feed.Ack{Member: eu, Epoch: w.Epoch, Positions: []feed.Position{{Shard: w.Shard, Seq: w.Seq}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := newDatabase(eu)
				net := newOrigins(db, 3)
				for round := 1; round <= 2; round++ {
					w := db.commit(3)
					later(t, 5*time.Millisecond, func() { tell(t, net.origins[0], w) })
					r, took := net.origins[2].timed(t, w)
					want(t, "told to another origin", r, took, 1, 1, 5*time.Millisecond)
					tell(t, net.origins[0], w)
					tell(t, net.origins[1], w)
					if net.shared != round {
						t.Errorf("shared %d times, want %d: once what is news", net.shared, round)
					}
				}
			})
		})
	}
}

func TestWhatCameByNATSIsNotShared(t *testing.T) {
	t.Parallel()
	net := newOrigins(newDatabase(eu), 2)
	for seq, by := range []Way{ByNATS, ByShare} {
		w := links.Position{Epoch: 1, Shard: 3, Seq: uint64(seq) + 1}
		net.origins[0].Acks(by).Ack(&feed.Ack{Member: eu, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: w.Seq}}})
		if net.shared != 0 || net.origins[1].reached(eu, []links.Position{w}) {
			t.Errorf("way %d: shared %d times, want none", by, net.shared)
		}
	}
}

func TestMembersOfTheSameNameAreTrackedByBoot(t *testing.T) {
	t.Parallel()
	tracker := NewTracker(new(network))
	at := []links.Position{{Epoch: 1, Shard: 3, Seq: 5}}
	tracker.Acks(ByNATS).Ack(&feed.Ack{Member: eu, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: 5}}})
	if !tracker.reached(eu, at) || tracker.reached(eu2, at) {
		t.Errorf("reached: boot 1 %v, boot 2 %v, want boot 1 alone", tracker.reached(eu, at), tracker.reached(eu2, at))
	}
}

func TestTheTrackerIsBounded(t *testing.T) {
	t.Parallel()
	tracker := NewTracker(new(network))
	for i := range maxTracked + 100 {
		tracker.Acks(ByNATS).Ack(&feed.Ack{Member: feed.Member{ID: strconv.Itoa(i), Boot: "1"}})
	}
	if got := len(tracker.members); got != maxTracked {
		t.Errorf("%d members are tracked, want %d", got, maxTracked)
	}
}

func TestASilentMemberIsForgottenAndWhoSpokeIsNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tracker := NewTracker(new(network))
		ack := func(m feed.Member) {
			tracker.Acks(ByNATS).Ack(&feed.Ack{Member: m, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: 5}}})
		}
		ack(eu)
		ack(us)
		<-time.After(idleLimit / 2)
		ack(us)
		<-time.After(idleLimit / 2)
		ack(eu2) // a new one makes room
		at := []links.Position{{Epoch: 1, Shard: 3, Seq: 5}}
		if tracker.reached(eu, at) || !tracker.reached(us, at) {
			t.Errorf("reached: eu %v, us %v, want us alone", tracker.reached(eu, at), tracker.reached(us, at))
		}
	})
}

func TestAWaitOutlivesThatItsMemberIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tracker := NewTracker(new(network))
		at := []links.Position{{Epoch: 1, Shard: 3, Seq: 5}}
		var waits sync.WaitGroup
		for range 3 {
			waits.Go(func() {
				if !tracker.wait(eu, at, nil) {
					t.Error("wait = false, want true")
				}
			})
		}
		synctest.Wait()
		tracker.mu.Lock()
		tracker.forget(eu, tracker.members[eu])
		tracker.mu.Unlock()
		synctest.Wait()
		tracker.Acks(ByNATS).Ack(&feed.Ack{Member: eu, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: 5}}})
		waits.Wait()
	})
}
