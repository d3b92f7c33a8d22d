package follow

import (
	"testing"
	"time"

	"waypost/shared/feed"
)

func TestTheClockIsTheProbes(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *center, e *edge) {
		t.Helper()
		time.Sleep(time.Second)
		// The origin's clock is an hour ahead, and a bubble's network takes no time.
		if _, got := e.Clock(); got != time.Now().Add(time.Hour).UnixMicro() {
			t.Errorf("got %d, want %d", got, time.Now().Add(time.Hour).UnixMicro())
		}
	})
}

func TestANewEpochMayHaveAnotherClock(t *testing.T) {
	inBubble(t, func(t *testing.T, c *center, e *edge) {
		t.Helper()
		c.set(func(c *center) {
			c.epoch, c.log, c.ahead = 2, [feed.AllShards][]*feed.Change{}, time.Minute
			c.delay = func(int) time.Duration { return 10 * time.Millisecond } // a longer round trip than before
		})
		time.Sleep(2 * probeEvery)
		behind := 10 * time.Millisecond / 2 // the estimate is off by half the round trip: the heads were read at its start
		if _, got := e.Clock(); got != time.Now().Add(time.Minute-behind).UnixMicro() {
			t.Errorf("got %d, want that of the new epoch", got-time.Now().UnixMicro())
		}
	})
}

func TestTheClockPrefersShortRoundTrips(t *testing.T) {
	t.Parallel()
	const (
		at    = feed.Instant(time.Hour)
		later = at + feed.Instant(2*window)
		quick = feed.Instant(10 * time.Millisecond)
		slow  = feed.Instant(100 * time.Millisecond)
	)
	var c clock
	c.guess(time.Now())
	if c.measured() || c.told() {
		t.Error("a guess counts as measured, or as told")
	}
	c.skip(time.Minute)
	if c.told() {
		t.Error("after a suspend a guess counts as told")
	}
	c.observe(1_000_000, at, at+quick)
	c.observe(9_000_000, at, at+slow) // dropped
	if got, want := c.at(at), int64(1_000_000-5_000); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	c.observe(9_000_000, later, later+slow) // the old one is too old
	if got, want := c.at(later), int64(9_000_000-50_000); got != want {
		t.Errorf("after %v: got %d, want %d", 2*window, got, want)
	}
	c.skip(time.Minute)
	if c.measured() || !c.told() {
		t.Error("after a suspend the clock must count as told, and as not measured")
	}
	if got, want := c.at(later), int64(9_000_000-50_000+60_000_000); got != want {
		t.Errorf("after a suspend: got %d, want %d", got, want)
	}
	c.observe(5_000_000, later, later+slow) // no shorter, but measured
	if got, want := c.at(later), int64(5_000_000-50_000); got != want {
		t.Errorf("the probe after a suspend: got %d, want %d", got, want)
	}
}
