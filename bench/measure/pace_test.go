package measure

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPaceBeginsEachJobAtItsTimeWhateverBecameOfTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		began := make([]time.Duration, 5)
		late, err := Pace{Every: 10 * time.Millisecond, Jobs: 5, Workers: 5}.Run(t.Context(), func(_, job int) error {
			mu.Lock()
			began[job] = time.Since(start)
			mu.Unlock()
			time.Sleep(time.Second) // slower than the pace by far
			return nil
		})
		want := []time.Duration{0, 10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond}
		if err != nil || !slices.Equal(began, want) {
			t.Errorf("got %v, error %v, want %v", began, err, want)
		}
		if late.N() != 5 || late.Max() != 0 {
			t.Errorf("late by up to %s, of %d, want none of 5 late", late.Max(), late.N())
		}
	})
}

func TestPaceTellsByHowMuchJobsWaitedForAWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late, err := Pace{Every: 10 * time.Millisecond, Jobs: 3, Workers: 1}.Run(t.Context(), func(_, _ int) error {
			time.Sleep(time.Second)
			return nil
		})
		if want := 2*time.Second - 20*time.Millisecond; err != nil || late.Max() != want {
			t.Errorf("got %s, error %v, want %s", late.Max(), err, want)
		}
	})
}

func TestPaceEndsWithItsContextAndWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 35*time.Millisecond)
		defer cancel()
		pace := Pace{Every: 10 * time.Millisecond, Jobs: 1000, Workers: 2}
		late, err := pace.Run(ctx, func(_, _ int) error { return nil })
		if err != nil || late.N() != 4 {
			t.Errorf("got %d jobs, error %v, want 4 and none", late.N(), err)
		}
		broken := errors.New("broken")
		var done atomic.Int64
		_, err = pace.Run(t.Context(), func(_, job int) error {
			done.Add(1)
			if job == 2 {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) || done.Load() != 3 {
			t.Errorf("got %d jobs, error %v, want 3 and the job's error", done.Load(), err)
		}
	})
}
