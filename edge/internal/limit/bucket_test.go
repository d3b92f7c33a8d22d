package limit

import (
	"math"
	"testing"
)

func TestBucketKeepsItsParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		full, pending         int64
		wantFull, wantPending int64
	}{
		{0, 0, 0, 0},
		{123_456_789, 42, 123_456_789, 42},
		{maxFull, maxPending, maxFull, maxPending},
		{math.MaxInt64, math.MaxInt64, maxFull, maxPending},
		{-1, -1, 0, 0},
	}
	for _, tt := range tests {
		for _, closed := range []bool{false, true} {
			b := newBucket(tt.full, tt.pending, closed)
			if b.full() != tt.wantFull || b.pending() != tt.wantPending || b.closed() != closed {
				t.Errorf("newBucket(%d, %d, %v): got %d, %d, %v, want %d, %d, %v", tt.full, tt.pending, closed,
					b.full(), b.pending(), b.closed(), tt.wantFull, tt.wantPending, closed)
			}
		}
	}
}

func TestBucketSpendsWhatItHoldsAndRefills(t *testing.T) {
	t.Parallel()
	const interval, depth, start = 1000, 3000, 1_000_000
	var b bucket
	steps := []struct {
		at   int64
		ok   bool
		wait int64
	}{
		{0, true, 0},
		{0, true, 0},
		{0, true, 0},
		{0, false, 1000},
		{400, false, 600},
		{999, false, 1},
		{1000, true, 0},
		{1000, false, 1000},
		{3000, true, 0},
		{3000, true, 0},
		{3000, false, 1000},
		{900_000, true, 0},
		{900_000, true, 0},
		{900_000, true, 0},
		{900_000, false, 1000},
	}
	spent := int64(0)
	for i, step := range steps {
		after, wait, ok := b.spend(start+step.at, depth, interval, false)
		if ok != step.ok || wait != step.wait {
			t.Errorf("step %d at %d: got %v, wait %d, want %v, wait %d", i, step.at, ok, wait, step.ok, step.wait)
		}
		if ok {
			spent++
		}
		b = after
	}
	if b.pending() != spent {
		t.Errorf("pending: got %d, want the %d that were spent", b.pending(), spent)
	}
}

func TestBucketAloneHeedsNeitherClosedNorPending(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]bucket{"closed": newBucket(0, 0, true), "pending at its limit": newBucket(0, maxPending, false)} {
		if _, _, ok := b.spend(0, 1000, 1000, false); ok {
			t.Errorf("%s, with Redis: got a token, want none", name)
		}
		after, _, ok := b.spend(0, 1000, 1000, true)
		if !ok {
			t.Errorf("%s, without Redis: got no token, want one", name)
		}
		if after.closed() != b.closed() || after.pending() < b.pending() {
			t.Errorf("%s, after a token without Redis: got %v, %d, want as before", name, after.closed(), after.pending())
		}
	}
}

func TestSettledBucketHoldsWhatTheSharedOneDoes(t *testing.T) {
	t.Parallel()
	const interval, depth, now = 1000, 8000, 50_000
	tests := []struct {
		name                     string
		pending, charged, credit int64
		tokens                   int64 // left to spend at once
		closed                   bool
	}{
		{"all of it", 5, 5, 20_000, 8, false},
		{"less than the local burst", 5, 5, 3000, 3, false},
		{"less what was spent meanwhile", 7, 5, 20_000, 6, false},
		{"less, and scarce", 7, 5, 3000, 1, false},
		{"more spent than was left", 9, 5, 3000, 0, false},
		{"a part of a token", 1, 1, 999, 0, false},
		{"empty", 5, 5, 0, 0, true},
		{"debt", 5, 5, -7000, 0, true},
		{"taken over meanwhile", 0, 5, 20_000, 8, false},
	}
	for _, tt := range tests {
		b := newBucket(now+2*depth, tt.pending, false).settled(now, depth, interval, tt.charged, tt.credit)
		if b.closed() != tt.closed {
			t.Errorf("%s: closed: got %v, want %v", tt.name, b.closed(), tt.closed)
		}
		if got, want := b.pending(), max(0, tt.pending-tt.charged); got != want {
			t.Errorf("%s: pending: got %d, want %d", tt.name, got, want)
		}
		tokens := int64(0)
		for ok := true; ok; {
			if b, _, ok = b.spend(now, depth, interval, false); ok {
				tokens++
			}
		}
		if tokens != tt.tokens {
			t.Errorf("%s: got %d tokens, want %d", tt.name, tokens, tt.tokens)
		}
	}
}

func TestClosedBucketIsDueOnceItsDebtMayBePaid(t *testing.T) {
	t.Parallel()
	const interval, depth, now = 1000, 8000, 50_000
	b := newBucket(0, 0, false).settled(now, depth, interval, 0, -3000)
	for at, want := range map[int64]bool{now: false, now + 3000: false, now + 3001: true, now + 1_000_000: true} {
		if got := b.due(at, depth); got != want {
			t.Errorf("due %d µs after a debt of 3000: got %v, want %v", at-now, got, want)
		}
		if b.idle(at) {
			t.Errorf("idle %d µs after a debt: got true, want false", at-now)
		}
	}
}
