package stampede

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestBreakerLetsOneCallerTryAfterAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen states
		b := breaker{pause: time.Second, onState: seen.add}
		down := errors.New("down")
		if !b.allow() {
			t.Fatal("a new breaker does not allow")
		}
		b.report(t.Context(), down)
		if b.allow() {
			t.Error("allowed right after a failure")
		}
		<-time.After(499 * time.Millisecond)
		if b.allow() {
			t.Error("allowed before half a pause")
		}
		<-time.After(time.Second + time.Millisecond)
		if !b.allow() {
			t.Error("not allowed after one and a half pauses")
		}
		if b.allow() {
			t.Error("a second caller is allowed while the first one tries")
		}
		b.report(t.Context(), down)
		if b.allow() {
			t.Error("allowed right after the second failure")
		}
		<-time.After(1500 * time.Millisecond)
		if !b.allow() {
			t.Error("not allowed after the second pause")
		}
		b.report(t.Context(), nil)
		for range 2 {
			if !b.allow() {
				t.Error("not allowed after a success")
			}
		}
		if len(seen.errs) != 2 || !errors.Is(seen.errs[0], down) || seen.errs[1] != nil {
			t.Errorf("states = %v, want [down <nil>]", seen.errs)
		}
	})
}

func TestBreakerAllowsAnotherTryWhenTheFirstNeverReports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := breaker{pause: time.Second}
		b.report(t.Context(), errors.New("down"))
		<-time.After(1500 * time.Millisecond)
		if !b.allow() {
			t.Fatal("not allowed after a pause")
		}
		<-time.After(1500 * time.Millisecond)
		if !b.allow() {
			t.Error("a caller that never reported keeps everybody out")
		}
	})
}

func TestBreakerIgnoresFailuresThatAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := breaker{pause: time.Hour}
	b.report(ctx, context.Canceled)
	if !b.allow() {
		t.Error("a caller whose time was up opened the breaker")
	}
}
