package edges

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waypost/origin/internal/links"
	"waypost/shared/feed"
)

// rosterStore answers each read when it is told to. Reads are numbered from 1;
// the heads' Now is the number.
type rosterStore struct {
	began  chan int64 // told of each read as it starts
	finish chan error // one value ends one read
	reads  atomic.Int64
}

func newRosterStore() *rosterStore {
	return &rosterStore{began: make(chan int64), finish: make(chan error)}
}

func (s *rosterStore) read(context.Context) (*links.Roster, error) {
	n := s.reads.Add(1)
	s.began <- n
	if err := <-s.finish; err != nil {
		return nil, err
	}
	return &links.Roster{Heads: feed.Heads{Epoch: 1, Now: n}}, nil
}

func TestAReadServesExactlyTheProbesThatWaitedWhenItStarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newRosterStore()
		h := NewRosters(s.read)
		var all sync.WaitGroup
		probe := func(want int64) {
			all.Go(func() {
				got, err := h.read(t.Context())
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				if got.Heads.Now != want {
					t.Errorf("answered by read %d, want %d", got.Heads.Now, want)
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
		h := NewRosters(func(ctx context.Context) (*links.Roster, error) {
			select {
			case <-hold:
				return &links.Roster{}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
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
		s := newRosterStore()
		h := NewRosters(s.read)
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
		h := NewRosters(func(ctx context.Context) (*links.Roster, error) {
			if reads.Add(1) > maxReads {
				return &links.Roster{}, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
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
		hold := make(chan struct{})
		broken := true
		r := NewRosters(func(context.Context) (*links.Roster, error) {
			<-hold
			if broken {
				panic("boom")
			}
			return &links.Roster{}, nil
		})
		var all sync.WaitGroup
		var panics, failures atomic.Int64
		for range maxReads + 5 {
			all.Go(func() {
				defer func() {
					if recover() != nil {
						panics.Add(1)
					}
				}()
				if _, err := r.read(t.Context()); errors.Is(err, errNoRoster) {
					failures.Add(1)
				}
			})
			synctest.Wait()
		}
		close(hold)
		all.Wait()
		if panics.Load() != maxReads+1 || failures.Load() != 4 {
			t.Errorf("%d panics, %d failures, want %d readers to panic and 4 followers to fail", panics.Load(), failures.Load(), maxReads+1)
		}
		broken = false
		if _, err := r.read(t.Context()); err != nil {
			t.Errorf("read after the panics: %v", err)
		}
	})
}

func TestMembersAreThoseThatHaveNotLeft(t *testing.T) {
	t.Parallel()
	r := NewRosters(func(context.Context) (*links.Roster, error) {
		return &links.Roster{Edges: []links.Edge{
			{Member: feed.Member{ID: "eu", Boot: "1"}, LeftAt: time.UnixMicro(1)},
			{Member: feed.Member{ID: "eu", Boot: "2"}},
		}}, nil
	})
	if got := r.Members(); got != 0 {
		t.Errorf("Members before the first read = %d, want 0", got)
	}
	if _, err := r.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.Members(); got != 1 {
		t.Errorf("Members = %d, want 1", got)
	}
}
