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
	tracker := NewTracker()
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

func TestMembersOfTheSameNameAreTrackedByBoot(t *testing.T) {
	t.Parallel()
	tracker := NewTracker()
	at := []links.Position{{Epoch: 1, Shard: 3, Seq: 5}}
	tracker.Acks(ByNATS).Ack(&feed.Ack{Member: eu, Epoch: 1, Positions: []feed.Position{{Shard: 3, Seq: 5}}})
	if !tracker.reached(eu, at) || tracker.reached(eu2, at) {
		t.Errorf("reached: boot 1 %v, boot 2 %v, want boot 1 alone", tracker.reached(eu, at), tracker.reached(eu2, at))
	}
}

func TestTheTrackerIsBounded(t *testing.T) {
	t.Parallel()
	tracker := NewTracker()
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
		tracker := NewTracker()
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
		tracker := NewTracker()
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
