package limit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waypost/origin/internal/links"
)

func TestAnOriginWithoutRedisLimitsByItself(t *testing.T) {
	t.Parallel()
	clock := newHand()
	l := New(Config{Now: clock.now})
	two := links.Allowance{Rate: 2, Burst: 10}
	for _, step := range []struct {
		after       time.Duration
		asked, want int
	}{{0, 4, 4}, {0, 4, 4}, {0, 4, 2}, {0, 1, 0}, {499 * time.Millisecond, 1, 0}, {time.Millisecond, 2, 1}, {time.Hour, 11, 10}} {
		clock.advance(step.after)
		if got := take(t, l, "a", two, step.asked); got != step.want {
			t.Errorf("after %v, asked for %d: got %d, want %d", step.after, step.asked, got, step.want)
		}
	}
	if got := take(t, l, "b", two, 10); got != 10 {
		t.Errorf("another key: got %d, want 10", got)
	}
	if got, want := l.Stats(), (Stats{Given: 31, Refused: 6, Alone: 8}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

func TestTableOfAnOriginAloneIsBounded(t *testing.T) {
	t.Parallel()
	const most = 64
	clock := newHand()
	l := New(Config{Now: clock.now, Table: most})
	take(t, l, "spent", slow, 10)
	brisk := links.Allowance{Rate: 1000, Burst: 10}
	for i := range 10 * most {
		take(t, l, fmt.Sprint("passing", i), brisk, 1)
		clock.advance(time.Second) // so that each is full again when the next one comes
		if len(l.local.full) > most {
			t.Fatalf("%d buckets, want at most %d", len(l.local.full), most)
		}
	}
	if got := take(t, l, "spent", slow, 10); got > 10*most/100+1 {
		t.Errorf("tokens of a bucket that was empty and stayed in use: got %d", got)
	}
	for i := range 10 * most { // none of these is ever full
		take(t, l, fmt.Sprint("staying", i), slow, 10)
		if len(l.local.full) > most {
			t.Fatalf("%d buckets, want at most %d", len(l.local.full), most)
		}
	}
}

func TestAnOriginAloneGivesNoTokenTwice(t *testing.T) {
	t.Parallel()
	l := New(Config{Now: newHand().now})
	var given atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 100 {
				given.Add(int64(l.Take(t.Context(), "a", links.Allowance{Rate: 1, Burst: 1000}, 1).Tokens))
			}
		})
	}
	all.Wait()
	if got := given.Load(); got != 1000 {
		t.Errorf("given %d tokens, want 1000", got)
	}
}
