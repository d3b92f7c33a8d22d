package stampede

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

func TestACallerThatGoesAwayDoesNotEndTheLoadForOthers(t *testing.T) {
	t.Parallel()
	src := &source{epoch: 1, asof: 3, state: feed.Enabled, began: make(chan link.Key), hold: make(chan struct{})}
	l := newLoader(t, patient(nil), src.load)
	key := link.Key{Code: "k"}

	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := l.Load(ctx, key, 1, 3)
		left <- err
	}()
	<-src.began
	var stays sync.WaitGroup
	stays.Go(func() { mustLoad(t, l, want{key: key, epoch: 1, minSeq: 3}, src.entry(key)) })
	eventually(t, "the second joins", func() bool { return l.Stats().Joined == 1 })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("error of the one who left = %v, want context.Canceled", err)
	}
	close(src.hold)
	stays.Wait()
	if got := src.count(key); got != 1 {
		t.Errorf("loads = %d, want 1", got)
	}
}

func TestOnlyLoadsThatWantTheSameAreJoined(t *testing.T) {
	t.Parallel()
	src := &source{epoch: 2, asof: 9, state: feed.Enabled, hold: make(chan struct{})}
	l := newLoader(t, patient(nil), src.load)
	wants := []want{
		{key: link.Key{Code: "k"}, epoch: 2, minSeq: 3},
		{key: link.Key{Code: "k"}, epoch: 2, minSeq: 4},
		{key: link.Key{Code: "k"}, epoch: 1, minSeq: 3},
		{key: link.Key{Domain: "k"}, epoch: 2, minSeq: 3},
	}
	var all sync.WaitGroup
	for _, w := range wants {
		for range 2 {
			all.Go(func() { mustLoad(t, l, w, src.entry(w.key)) })
		}
	}
	eventually(t, "all wait", func() bool { return waiting(l) == 2*len(wants) })
	close(src.hold)
	all.Wait()
	if got, expect := l.Stats(), (Stats{Loaded: 4, Joined: 4}); got != expect {
		t.Errorf("Stats = %+v, want %+v", got, expect)
	}
}

func TestALoadThatBreaksDownAnswersEverybodyWhoWaits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		end  func()
		want string
	}{
		{"panic", func() { panic("boom") }, "panic: boom"},
		{"Goexit", runtime.Goexit, errNoResult.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hold := make(chan struct{})
			l := newLoader(t, patient(nil), func(context.Context, link.Key) (*feed.Entry, error) {
				<-hold
				tc.end()
				return nil, nil //nolint:nilnil // not reached
			})
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					_, err := l.Load(t.Context(), link.Key{Code: "k"}, 1, 0)
					if err == nil || !strings.Contains(err.Error(), tc.want) {
						t.Errorf("error = %v, want one with %q", err, tc.want)
					}
				})
			}
			eventually(t, "all wait", func() bool { return waiting(l) == 10 })
			close(hold)
			all.Wait()
			if got := len(l.slots); got != 0 {
				t.Errorf("slots still taken = %d, want 0", got)
			}
		})
	}
}

func TestAPostgresBehindTheWantedPositionIsUnavailable(t *testing.T) {
	t.Parallel()
	key := link.Key{Code: "k"}
	for _, tc := range []struct {
		name          string
		epoch, asof   uint64
		wantEpoch     uint64
		minSeq        uint64
		isUnavailable bool
	}{
		{"there", 1, 5, 1, 5, false},
		{"behind", 1, 4, 1, 5, true},
		{"in a newer epoch", 2, 4, 1, 5, false},
		{"in an older epoch", 1, 4, 2, 5, false},
	} {
		src := &source{epoch: tc.epoch, asof: tc.asof, state: feed.Enabled}
		e, err := newLoader(t, patient(nil), src.load).Load(t.Context(), key, tc.wantEpoch, tc.minSeq)
		if got := errors.Is(err, link.ErrUnavailable); got != tc.isUnavailable || (err == nil) == tc.isUnavailable {
			t.Errorf("%s: Load = %+v, %v; unavailable = %v, want %v", tc.name, e, err, got, tc.isUnavailable)
		}
	}
}

func TestAtMostMaxLoadsRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	cfg := patient(nil)
	cfg.MaxLoads = 2
	src := &source{epoch: 1, asof: 3, began: make(chan link.Key), hold: make(chan struct{})}
	l := newLoader(t, cfg, src.load)
	const loads = 20
	var all sync.WaitGroup
	for i := range loads {
		key := link.Key{Code: strconv.Itoa(i)}
		all.Go(func() { mustLoad(t, l, want{key: key, epoch: 1}, src.entry(key)) })
	}
	eventually(t, "all wait", func() bool { return waiting(l) == loads })
	close(src.hold)
	for range loads {
		<-src.began
	}
	all.Wait()
	if src.peak > cfg.MaxLoads {
		t.Errorf("loads at the same time = %d, want at most %d", src.peak, cfg.MaxLoads)
	}
}

func TestALoadWithoutATurnIsUnavailableAtItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := patient(nil)
		cfg.MaxLoads, cfg.Deadline = 1, time.Second
		endless := make(chan struct{})
		l := New(cfg, func(context.Context, link.Key) (*feed.Entry, error) {
			<-endless // keeps its slot beyond its deadline
			return nil, link.ErrUnavailable
		})
		var first sync.WaitGroup
		first.Go(func() {
			if e, err := l.Load(t.Context(), link.Key{Code: "a"}, 1, 0); err == nil {
				t.Errorf("Load(a) = %+v, want an error", e)
			}
		})
		synctest.Wait()
		if e, err := l.Load(t.Context(), link.Key{Code: "b"}, 1, 0); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("Load(b) = %+v, %v, want link.ErrUnavailable", e, err)
		}
		close(endless)
		first.Wait()
		l.Close()
		if got, expect := l.Stats(), (Stats{Loaded: 1, Refused: 1}); got != expect {
			t.Errorf("Stats = %+v, want %+v", got, expect)
		}
	})
}

func TestALoadThatRunsIntoItsDeadlineIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := &source{hold: make(chan struct{})}
		l := New(Config{}, src.load)
		if e, err := l.Load(t.Context(), link.Key{Code: "k"}, 1, 0); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("Load = %+v, %v, want link.ErrUnavailable", e, err)
		}
		l.Close()
	})
}

func TestMoreThanMaxFlightsIsUnavailableAtOnce(t *testing.T) {
	t.Parallel()
	cfg := patient(nil)
	cfg.MaxFlights = 2
	src := &source{epoch: 1, asof: 3, hold: make(chan struct{})}
	l := newLoader(t, cfg, src.load)
	var all sync.WaitGroup
	for _, code := range []string{"a", "b"} {
		key := link.Key{Code: code}
		all.Go(func() { mustLoad(t, l, want{key: key, epoch: 1}, src.entry(key)) })
	}
	eventually(t, "both are under way", func() bool { return waiting(l) == 2 })
	if e, err := l.Load(t.Context(), link.Key{Code: "c"}, 1, 0); !errors.Is(err, link.ErrUnavailable) {
		t.Errorf("Load = %+v, %v, want link.ErrUnavailable", e, err)
	}
	close(src.hold)
	all.Wait()
	key := link.Key{Code: "c"}
	mustLoad(t, l, want{key: key, epoch: 1}, src.entry(key))
}

func TestCloseWaitsForLoadsWhoseCallersHaveLeft(t *testing.T) {
	t.Parallel()
	src := &source{epoch: 1, asof: 3, began: make(chan link.Key, 1), hold: make(chan struct{})}
	l := New(patient(nil), src.load)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Load(ctx, link.Key{Code: "k"}, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	<-src.began
	closed := make(chan struct{})
	go func() {
		l.Close()
		close(closed)
	}()
	eventually(t, "the loader refuses", func() bool {
		_, err := l.Load(ctx, link.Key{Code: "other"}, 1, 0)
		return errors.Is(err, link.ErrUnavailable)
	})
	select {
	case <-closed:
		t.Error("Close returned while a load was under way")
	default:
	}
	close(src.hold)
	<-closed
}
