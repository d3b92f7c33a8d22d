package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatIsAppendedIsReadBack(t *testing.T) {
	t.Parallel()
	for name, group := range map[string]bool{"page cache": false, "group sync": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			const goroutines, each = 16, 300
			s, stop := start(t, Config{Dir: dir, Label: "eu", Group: group, Limit: time.Minute, SegmentBytes: 32 << 10, BufferBytes: minRing})
			var mu sync.Mutex
			want := map[uint64]string{}
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					for i := range each {
						p := fmt.Sprintf("%d/%d/%s", g, i, strings.Repeat("x", (g*each+i)%700+1))
						at, o := s.Append([]byte(p))
						if o != Written {
							t.Errorf("append %s: got %s, want written", p[:8], o)
						}
						if s.own.End() <= at {
							t.Errorf("append at %d is Written, and the log ends at %d", at, s.own.End())
						}
						mu.Lock()
						want[at] = p
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			check := func(l *Log) {
				t.Helper()
				n := 0
				readAll(t, l, func(at uint64, payload []byte) {
					n++
					if want[at] != string(payload) {
						t.Errorf("at %d: got %.20q, want %.20q", at, payload, want[at])
					}
				})
				if n != len(want) {
					t.Errorf("got %d frames, want %d", n, len(want))
				}
			}
			check(s.own)
			if got := len(s.own.segments); got < 10 {
				t.Errorf("got %d segments, want many", got)
			}
			st := s.Stats()
			if st.Frames != goroutines*each || st.Held != 0 || st.Refused != 0 || st.HeldBytes != 0 {
				t.Errorf("got %+v", st)
			}
			if got := folderBytes(t, dir); got != st.DiskBytes {
				t.Errorf("got %d bytes on disk, want %d", st.DiskBytes, got)
			}
			stop()
			if !s.own.Closed() {
				t.Error("the log is not closed when Run has returned")
			}
			after := reopen(t, dir)
			l := after.Logs()[0]
			if l.Boot() != s.own.Boot() || l.Label() != "eu" || !l.Closed() || l.End() != s.own.End() || l.Bytes() != st.DiskBytes {
				t.Errorf("after a restart: got %s %s %t %d %d", l.Boot(), l.Label(), l.Closed(), l.End(), l.Bytes())
			}
			check(l)
		})
	}
}

// folderBytes is the size of all files below a folder.
func folderBytes(tb testing.TB, dir string) (n int64) {
	tb.Helper()
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestWhatIsNoPayloadIsRefused(t *testing.T) {
	t.Parallel()
	s, stop := start(t, Config{Dir: t.TempDir()})
	for _, n := range []int{0, MaxPayload + 1} {
		if _, o := s.Append(make([]byte, n)); o != Refused {
			t.Errorf("append of %d bytes: got %s, want refused", n, o)
		}
	}
	if _, o := s.Append(make([]byte, MaxPayload)); o == Refused {
		t.Error("append of MaxPayload bytes was refused")
	}
	stop()
	if _, o := s.Append([]byte("late")); o != Refused {
		t.Errorf("append after the end: got %s, want refused", o)
	}
	if got := s.Stats().Refused; got != 3 {
		t.Errorf("got %d refused, want 3", got)
	}
}

func TestAppendsBeforeRunAreHeldThenWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := numbered(5)
	for _, p := range want {
		if _, o := s.Append([]byte(p)); o != Held {
			t.Errorf("append %q: got %s, want held", p, o)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil { // a stop right at the start still writes them
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := payloads(t, reopen(t, dir).Logs()[0]); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASpoolWithoutAppendsLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stop := start(t, Config{Dir: dir})
	stop()
	if names, err := os.ReadDir(dir); len(names) != 0 || err != nil {
		t.Errorf("got %v, %v, want an empty folder", names, err)
	}
}

func TestOneSyncIsForAllThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newFaulty()
		s := disk.open(t, Config{Dir: t.TempDir(), Group: true, Limit: time.Minute})
		stop := begin(t, s)
		s.Append([]byte("the first makes the segment"))
		before := disk.syncs.Load()
		release := disk.stall()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, o := s.Append([]byte("company")); o != Written {
					t.Errorf("got %s, want written", o)
				}
			})
		}
		synctest.Wait() // some wait for the write in hand, the others for the next one
		release()
		wg.Wait()
		if got := disk.syncs.Load() - before; got > 2 {
			t.Errorf("got %d syncs for 50 appends, want at most 2", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestASegmentIsSealedByAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFaulty().open(t, Config{Dir: t.TempDir(), SegmentAge: time.Hour})
		stop := begin(t, s)
		s.Append([]byte("one"))
		<-time.After(90 * time.Minute)
		synctest.Wait()
		if got := len(s.own.segments); got != 2 {
			t.Errorf("got %d segments after 90 minutes, want the old one and a new one", got)
		}
		<-time.After(90 * time.Minute)
		synctest.Wait()
		if got := len(s.own.segments); got != 2 {
			t.Errorf("got %d segments, want no other one while nothing is appended", got)
		}
		if err := s.own.Drop(s.own.End()); err != nil {
			t.Error(err)
		}
		s.Append([]byte("two"))
		if got, want := payloads(t, s.own), []string{"two"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestALogIsReadAndDroppedWhileItGrows(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 2000
	s, stop := start(t, Config{Dir: t.TempDir(), SegmentBytes: 16 << 10, Limit: time.Minute})
	var appends, reads sync.WaitGroup
	for g := range goroutines {
		appends.Go(func() {
			for i := range each {
				s.Append(fmt.Appendf(nil, "%d %d", g, i))
			}
		})
	}
	next := make([]int, goroutines)
	l := s.Logs()[0]
	reads.Go(func() {
		at := uint64(0)
		eventually(t, "all to be read", func() bool {
			to, err := l.Read(at, 8<<10, func(_ uint64, p []byte) error {
				var g, i int
				if _, err := fmt.Sscanf(string(p), "%d %d", &g, &i); err != nil {
					return err
				}
				if i != next[g] {
					t.Errorf("goroutine %d: got %d, want %d", g, i, next[g])
				}
				next[g] = i + 1
				return nil
			})
			at = to
			if err = errors.Join(err, l.Drop(at)); err != nil {
				t.Error(err)
			}
			return err != nil || !slices.ContainsFunc(next, func(n int) bool { return n < each })
		})
	})
	appends.Wait()
	reads.Wait()
	if got := len(l.segments); got != 1 {
		t.Errorf("got %d segments, want the last one", got)
	}
	stop()
}

func TestAnErrorOfTheReaderEndsReadAtThatFrame(t *testing.T) {
	t.Parallel()
	dir, _ := older(t, three())
	l := reopen(t, dir).Logs()[0]
	full := errors.New("full")
	n := 0
	to, err := l.Read(0, 1<<20, func(uint64, []byte) error {
		if n++; n == 4 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want the reader's error", err)
	}
	var got string
	_, err = l.Read(to, 1, func(_ uint64, p []byte) error { got += string(p); return nil })
	if got != "b2" || err != nil {
		t.Errorf("reading on: got %q, %v, want b2", got, err)
	}
}
