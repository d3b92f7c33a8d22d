package spool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// numbered are n different payloads of different lengths.
func numbered(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%03d%s", i, strings.Repeat("x", i%23)))
	}
	return all
}

// appendAll appends payloads one after the other and expects that none is refused.
func appendAll(tb testing.TB, s *Spool, payloads []string) {
	tb.Helper()
	for _, p := range payloads {
		if _, o := s.Append([]byte(p)); o == Refused {
			tb.Fatalf("append %q: got refused", p)
		}
	}
}

// A disk that is full at any byte leaves no torn frame between two whole ones,
// and none twice, whether or not the file can be cut.
func TestAFullDiskLosesNoFrameAndTearsNone(t *testing.T) {
	t.Parallel()
	for name, noCut := range map[string]bool{"cut": false, "not cut": true} {
		for room := range int64(140) {
			t.Run(fmt.Sprintf("%s/room=%d", name, room), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					disk, dir := newFaulty(), t.TempDir()
					disk.noCut.Store(noCut)
					disk.room.Store(room)
					s := disk.open(t, Config{Dir: dir})
					stop := begin(t, s)
					want := numbered(8)
					appendAll(t, s, want)
					if got := s.Stats(); !got.Stalled || got.HeldBytes == 0 || got.Failures == 0 {
						t.Errorf("disk full: got %+v", got)
					}
					disk.room.Store(-1)
					eventually(t, "the disk to be written again", func() bool { return s.Stats().HeldBytes == 0 })
					more := numbered(3)
					appendAll(t, s, more)
					want = append(want, more...)
					if got := payloads(t, s.own); !slices.Equal(got, want) {
						t.Errorf("got %q, want %q", got, want)
					}
					if err := stop(); err != nil {
						t.Error(err)
					}
					if got, want := folderBytes(t, dir), s.Stats().DiskBytes; !noCut && got != want {
						t.Errorf("got %d bytes on disk, want %d: no segment was cut", got, want)
					}
					l := reopen(t, dir).Logs()[0]
					if got := payloads(t, l); !slices.Equal(got, want) {
						t.Errorf("after a restart: got %q, want %q", got, want)
					}
				})
			})
		}
	}
}

// A disk that takes a part of a write keeps the frames that are whole, and the
// rest is written once more.
func TestAWriteOfSeveralFramesThatComesShortLosesNoneOfThem(t *testing.T) {
	t.Parallel()
	want := numbered(8)
	var all int64
	for _, p := range want {
		all += int64(frameBytes(len(p)))
	}
	for name, group := range map[string]bool{"page cache": false, "group sync": true} {
		for room := range all {
			t.Run(fmt.Sprintf("%s/room=%d", name, room), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					disk, dir := newFaulty(), t.TempDir()
					disk.room.Store(room)
					s := disk.open(t, Config{Dir: dir, Group: group})
					appendAll(t, s, want) // held, as nothing runs yet: written at once
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error, 1)
					go func() { done <- s.Run(ctx) }()
					synctest.Wait()
					disk.room.Store(-1)
					eventually(t, "all to be written", func() bool { return s.Stats().HeldBytes == 0 })
					cancel()
					if err := errors.Join(<-done, s.Close()); err != nil {
						t.Error(err)
					}
					if got := s.Stats(); got.Failures == 0 || got.Frames != uint64(len(want)) {
						t.Errorf("got %+v, want a failure and all frames", got)
					}
					if got := payloads(t, reopen(t, dir).Logs()[0]); !slices.Equal(got, want) {
						t.Errorf("after a restart: got %q, want %q", got, want)
					}
				})
			})
		}
	}
}

func TestWhatIsWrittenWithGroupIsSynced(t *testing.T) {
	t.Parallel()
	disk := newFaulty()
	s := disk.open(t, Config{Dir: t.TempDir(), Group: true, Limit: time.Minute, SegmentBytes: 100})
	stop := begin(t, s)
	for i, p := range numbered(20) {
		at, o := s.Append([]byte(p))
		end := s.writer.place(at) + int64(frameBytes(len(p)))
		if got := disk.synced.Load(); o != Written || got < end {
			t.Errorf("append %d: %s, and %d bytes of the file are synced, want %d", i, o, got, end)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestAFailedSyncIsNotBelieved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, dir := newFaulty(), t.TempDir()
		s := disk.open(t, Config{Dir: dir, Group: true})
		stop := begin(t, s)
		want := numbered(6)
		appendAll(t, s, want[:2])
		disk.noSync.Store(true)
		for _, p := range want[2:4] {
			if _, o := s.Append([]byte(p)); o != Held {
				t.Errorf("append %q: got %s, want held", p, o)
			}
		}
		disk.noSync.Store(false)
		eventually(t, "the disk to be written again", func() bool { return s.Stats().HeldBytes == 0 })
		for _, p := range want[4:] {
			if _, o := s.Append([]byte(p)); o != Written {
				t.Errorf("append %q: got %s, want written", p, o)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := payloads(t, reopen(t, dir).Logs()[0]); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestAFolderThatTakesNoFileIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newFaulty()
		disk.noCreate.Store(true)
		s := disk.open(t, Config{Dir: t.TempDir()})
		stop := begin(t, s)
		want := numbered(4)
		appendAll(t, s, want)
		before := time.Now()
		eventually(t, "a few failures", func() bool { return s.Stats().Failures == 12 })
		// 10 + 20 + … + 2,560 ms are nine, then come pauses of 5 s.
		if waited := time.Since(before); waited < 2*longestPause {
			t.Errorf("12 tries took %s: the pause does not grow", waited)
		}
		disk.noCreate.Store(false)
		eventually(t, "the disk to be written again", func() bool { return !s.Stats().Stalled })
		if got := payloads(t, s.own); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAStopWithADiskThatFailsTellsWhatIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newFaulty()
		disk.noCreate.Store(true)
		s := disk.open(t, Config{Dir: t.TempDir()})
		stop := begin(t, s)
		appendAll(t, s, []string{"one", "two"})
		if err := stop(); !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "32 bytes") {
			t.Errorf("got %v, want the disk's error and 32 bytes", err)
		}
		if _, o := s.Append([]byte("late")); o != Refused {
			t.Errorf("append after the end: got %s, want refused", o)
		}
	})
}

func TestAStalledDiskHoldsAnAppendForTheLimitAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 5 * time.Millisecond
		disk := newFaulty()
		release := disk.stall()
		s := disk.open(t, Config{Dir: t.TempDir(), Limit: limit, BufferBytes: minRing})
		stop := begin(t, s)
		want := numbered(64)
		var wg sync.WaitGroup
		for i, p := range want {
			wg.Go(func() {
				<-time.After(time.Duration(i) * 100 * time.Microsecond)
				before := time.Now()
				if _, o := s.Append([]byte(p)); o != Held {
					t.Errorf("append %q: got %s, want held", p, o)
				}
				if waited := time.Since(before); waited > limit {
					t.Errorf("append %q waited %s, want at most %s", p, waited, limit)
				}
			})
		}
		wg.Wait()
		if got := disk.hung.Load(); got != 1 {
			t.Errorf("got %d writes that hang, want the writer's", got)
		}

		before := time.Now()
		if _, o := s.Append([]byte("one more")); o != Held || time.Since(before) != 0 {
			t.Errorf("append to a disk that is known to hang: got %s after %s, want held at once", o, time.Since(before))
		}

		large := make([]byte, MaxPayload)
		for n := 0; ; n++ {
			if _, o := s.Append(large); o == Refused {
				if got, most := s.Stats().HeldBytes, uint64(minRing); got > most || n == 0 {
					t.Errorf("refused the append after %d at %d bytes held, the memory is %d", n, got, most)
				}
				break
			}
		}
		release()
		eventually(t, "all to be written", func() bool { return s.Stats().HeldBytes == 0 })
		if _, o := s.Append([]byte("again")); o != Written {
			t.Errorf("after the stall: got %s, want written", o)
		}
		got := payloads(t, s.own)
		slices.Sort(got[:len(want)])
		if !slices.Equal(got[:len(want)], want) {
			t.Errorf("got %q, want %q", got[:len(want)], want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// On a busy machine the writer may wait long for a processor; then the answer is
// worth more than the limit, which is the disk's.
func TestAWriterThatDoesNotSleepIsWaitedForLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 5 * time.Millisecond
		disk := newFaulty()
		disk.awake.Store(true)
		s := disk.open(t, Config{Dir: t.TempDir(), Limit: limit})
		stop := begin(t, s)
		for _, c := range []struct {
			stall time.Duration
			want  Outcome
		}{{10 * limit, Written}, {30 * limit, Held}} {
			release := disk.stall()
			before := time.Now()
			time.AfterFunc(c.stall, release)
			_, o := s.Append([]byte("payload"))
			if waited := time.Since(before); o != c.want || waited > c.stall || waited <= limit {
				t.Errorf("a stall of %s: got %s after %s, want %s", c.stall, o, waited, c.want)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestRunGivesADiskUpThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newFaulty()
		release := disk.stall()
		s := disk.open(t, Config{Dir: t.TempDir()})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		s.Append([]byte("lost"))
		cancel()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "16 bytes") {
			t.Errorf("got %v, want an error that tells 16 bytes", err)
		}
		if _, o := s.Append([]byte("too late")); o != Refused {
			t.Errorf("append after the end: got %s, want refused", o)
		}
		if err := s.Close(); err == nil {
			t.Error("the folder was let go while it is written")
		}
		if s.own.Closed() || s.own.Final() {
			t.Error("the log is closed while it is written")
		}
		release()
		synctest.Wait()
		if !s.own.Closed() || !s.own.Final() {
			t.Error("the log is not closed when its writer is through")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
