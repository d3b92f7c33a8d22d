package edgeapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
)

// headsStore answers each read when it is told to. Reads are numbered from 1;
// the answer's Now is the number.
type headsStore struct {
	began  chan int64 // told of each read as it starts
	finish chan error // one value ends one read
	reads  atomic.Int64
}

func newHeadsStore() *headsStore {
	return &headsStore{began: make(chan int64), finish: make(chan error)}
}

func (s *headsStore) heads(context.Context) (*feed.Heads, error) {
	n := s.reads.Add(1)
	s.began <- n
	if err := <-s.finish; err != nil {
		return nil, err
	}
	return &feed.Heads{Epoch: 1, Now: n}, nil
}

func TestAReadServesExactlyTheProbesThatWaitedWhenItStarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newHeadsStore()
		h := newHeadsReader(s.heads, time.Hour)
		var all sync.WaitGroup
		probe := func(want int64) {
			all.Go(func() {
				got, err := h.read(t.Context())
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				if got.Now != want {
					t.Errorf("answered by read %d, want %d", got.Now, want)
				}
			})
			synctest.Wait()
		}
		probe(1)
		if got := <-s.began; got != 1 {
			t.Fatalf("read %d started, want 1", got)
		}
		probe(2) // read 1 has started, so it must not answer this one
		if got := <-s.began; got != 2 {
			t.Fatalf("read %d started, want 2", got)
		}
		for range 100 {
			probe(3) // both turns are taken: all of these wait for the next read
		}
		if got := s.reads.Load(); got != 2 {
			t.Fatalf("reads = %d, want 2", got)
		}
		s.finish <- nil // read 1 or 2
		if got := <-s.began; got != 3 {
			t.Fatalf("read %d started, want 3", got)
		}
		probe(4) // read 3 has started
		for range 2 {
			s.finish <- nil
		}
		<-s.began
		s.finish <- nil
		all.Wait()
		if got := s.reads.Load(); got != 4 {
			t.Errorf("reads = %d, want 4", got)
		}
	})
}

func TestAProbeThatGoesAwayDoesNotEndTheReadForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		h := newHeadsReader(func(ctx context.Context) (*feed.Heads, error) {
			select {
			case <-hold:
				return &feed.Heads{Epoch: 1}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, time.Hour)
		for range maxReads {
			go h.read(t.Context()) //nolint:errcheck // keeps a turn taken
			synctest.Wait()
		}
		var all sync.WaitGroup
		leader, leave := context.WithCancel(t.Context())
		all.Go(func() { _, _ = h.read(leader) })
		synctest.Wait()
		follower, quit := context.WithCancel(t.Context())
		all.Go(func() {
			if _, err := h.read(follower); !errors.Is(err, context.Canceled) {
				t.Errorf("follower that left: %v, want context.Canceled", err)
			}
		})
		for range 3 {
			all.Go(func() {
				if _, err := h.read(t.Context()); err != nil {
					t.Errorf("read: %v", err)
				}
			})
		}
		synctest.Wait()
		leave()
		quit()
		synctest.Wait()
		close(hold)
		all.Wait()
	})
}

func TestAFailedReadFailsItsProbesAndNoOthers(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	synctest.Test(t, func(t *testing.T) {
		s := newHeadsStore()
		h := newHeadsReader(s.heads, time.Hour)
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := h.read(t.Context()); !errors.Is(err, down) {
				t.Errorf("first read: %v, want %v", err, down)
			}
		})
		<-s.began
		s.finish <- down
		all.Wait()
		all.Go(func() {
			if _, err := h.read(t.Context()); err != nil {
				t.Errorf("second read: %v", err)
			}
		})
		<-s.began
		s.finish <- nil
		all.Wait()
	})
}

func TestReadsThatHangHoldUpProbesNoLongerThanTheirLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		h := newHeadsReader(func(ctx context.Context) (*feed.Heads, error) {
			if reads.Add(1) > maxReads {
				return &feed.Heads{Epoch: 1}, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}, time.Second)
		var all sync.WaitGroup
		for range maxReads {
			all.Go(func() {
				if _, err := h.read(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("read that hangs: %v, want context.DeadlineExceeded", err)
				}
			})
			synctest.Wait()
		}
		<-time.After(500 * time.Millisecond)
		if _, err := h.read(t.Context()); err != nil {
			t.Errorf("read after those that hang: %v", err)
		}
		all.Wait()
	})
}

func TestAPanickingReadAnswersEverybodyAndFreesItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		var mu sync.Mutex
		hold := make(chan struct{})
		f := &fake{t: t, heads: func(context.Context) (*feed.Heads, error) {
			<-hold
			panic("boom")
		}}
		h := newHandler(f, Config{ProbeTimeout: time.Hour, Timeout: time.Hour}, &log)
		var all sync.WaitGroup
		statuses := make(map[int]int)
		for range maxReads + 5 {
			all.Go(func() {
				w := get(t, h, "/v1/heads")
				mu.Lock()
				defer mu.Unlock()
				statuses[w.Code]++
			})
		}
		synctest.Wait()
		close(hold)
		all.Wait()
		if got := statuses[http.StatusInternalServerError]; got != maxReads+5 {
			t.Errorf("statuses = %v, want %d times 500", statuses, maxReads+5)
		}
		if w := get(t, h, "/v1/heads"); w.Code != http.StatusInternalServerError {
			t.Errorf("status %d, want 500 from a read of its own", w.Code)
		}
	})
}
