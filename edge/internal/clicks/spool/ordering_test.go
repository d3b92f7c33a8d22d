package spool

import (
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What is stored before what decides whether an append is lost, and no test that
// runs both sides meets the few nanoseconds in between. These take one side alone
// and stop it there: by memory that faults where it goes on.

// page is the unit of memory that can be made to fault.
const page = 4096

// trap is memory that can be made to fault, for good.
func trap(t *testing.T, size int) (memory []byte, spring func(from, to, protection int)) {
	t.Helper()
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	return memory, func(from, to, protection int) {
		t.Helper()
		if err := unix.Mprotect(memory[from:to], protection); err != nil {
			t.Fatal(err)
		}
	}
}

// trapRing is a ring in such memory. The next frame has its first word at the end
// of a page and its payload on the next one.
func trapRing(t *testing.T) (r *ring, spring func(from, to, protection int)) {
	t.Helper()
	r = newRing(0)
	memory, spring := trap(t, len(r.bytes))
	r.bytes = memory
	r.words = unsafe.Slice((*uint64)(unsafe.Pointer(&memory[0])), len(memory)/wordBytes)
	r.reserved.Store(page - wordBytes)
	r.written.Store(page - wordBytes)
	return r, spring
}

// stops runs what has to run into the trap and stops there, and returns the
// address.
func stops(t *testing.T, do func()) (at uintptr) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		t.Helper()
		fault, ok := recover().(interface{ Addr() uintptr })
		if !ok || fault.Addr() < page {
			t.Errorf("got %v, want it to come to the trap", fault)
			return
		}
		at = fault.Addr()
	}()
	do()
	return 0
}

// trapSpool is a spool in which nothing runs, on such a ring.
func trapSpool(t *testing.T) (s *Spool, spring func(from, to, protection int)) {
	t.Helper()
	r, spring := trapRing(t)
	s = &Spool{ring: r, queue: &queue{}, pool: newPool(), alarm: newAlarm(), patrol: newAlarm(), counts: &counts{}}
	s.writer = &writer{ring: r, queue: s.queue, alarm: s.alarm, watch: s.patrol, counts: s.counts}
	return s, spring
}

var payload = []byte("some payload")

func TestAFrameIsPublishedAfterItsPayload(t *testing.T) {
	t.Parallel()
	r, spring := trapRing(t)
	at, _ := r.reserve(frameBytes(len(payload)))
	spring(page, 2*page, unix.PROT_READ)
	stops(t, func() { r.put(at, payload) })
	if to, _ := r.whole(at, 1); to != at {
		t.Error("a writer would write a frame whose payload is not there")
	}
}

func TestTheWriterIsWokenAfterAFrame(t *testing.T) {
	t.Parallel()
	s, spring := trapSpool(t)
	s.alarm.set()
	spring(page, 2*page, unix.PROT_READ)
	stops(t, func() { s.Append(payload) })
	if !s.alarm.asleep.Load() {
		t.Error("the writer would look before there is a frame, and sleep")
	}
}

func TestRoomIsHandedBackAfterItIsCleared(t *testing.T) {
	t.Parallel()
	r, spring := trapRing(t)
	at, _ := r.reserve(frameBytes(len(payload)))
	r.put(at, payload)
	to, _ := r.whole(at, 1)
	spring(page, 2*page, unix.PROT_READ)
	stops(t, func() { r.free(to) })
	if got := r.written.Load(); got != at {
		t.Errorf("got written up to %d: an append would copy a frame, and have it cleared", got)
	}
}

func TestThoseWhoWaitAreToldAfterRoomIsHandedBack(t *testing.T) {
	t.Parallel()
	s, spring := trapSpool(t)
	s.writer.own = &Log{dir: t.TempDir(), boot: newBoot(time.Now()), ring: s.ring, counts: s.counts}
	s.writer.create = createFile
	s.writer.age = time.NewTimer(time.Hour)
	defer s.writer.seal()
	at, _ := s.ring.reserve(frameBytes(len(payload)))
	s.ring.put(at, payload)
	w := &waiter{end: at + frameBytes(len(payload)), done: make(chan Outcome, 1)}
	s.queue.push(w)
	spring(page, 2*page, unix.PROT_READ)
	stops(t, func() { _, _ = s.writer.write() })
	if len(w.done) > 0 {
		t.Error("an append that comes to wait now would see that it is not written, and not be told either")
	}
}

func TestTheWriterSaysThatItSleepsBeforeItLooks(t *testing.T) {
	t.Parallel()
	s, spring := trapSpool(t)
	spring(0, page, unix.PROT_NONE)
	stop := make(chan struct{})
	close(stop) // so that one that does not look does not sleep for ever
	stops(t, func() { s.writer.idle(stop) })
	if !s.alarm.asleep.Load() {
		t.Error("an append after the look would wake nobody")
	}
}

func TestTheWriterWakesTheWatchBeforeItWrites(t *testing.T) {
	t.Parallel()
	s, spring := trapSpool(t)
	s.patrol.set()
	spring(0, page, unix.PROT_NONE)
	stops(t, func() { _, _ = s.writer.write() })
	if s.patrol.asleep.Load() {
		t.Error("the watch would sleep while the disk hangs")
	}
}

func TestTheWatchSaysThatItSleepsBeforeItLooks(t *testing.T) {
	t.Parallel()
	s, _ := trapSpool(t)
	memory, spring := trap(t, page)
	s.alarm = (*alarm)(unsafe.Pointer(&memory[0])) // of which no more than the flag is looked at
	spring(0, page, unix.PROT_NONE)
	stops(t, func() { s.mayRest() })
	if !s.patrol.asleep.Load() {
		t.Error("a writer that wakes up after the look would wake no watch")
	}
}

// The disk falls behind between an append's look and its place in the queue, when
// all that were there have been told: nobody but itself can tell it.
func TestAnAppendThatComesAsTheDiskFallsBehindDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFaulty().open(t, Config{Dir: t.TempDir()})
		defer s.Close() //nolint:errcheck // never ran
		s.queue.stalled.Store(false)
		s.pool = &sync.Pool{New: func() any {
			s.queue.hold()
			return newPool().New()
		}}
		var done sync.WaitGroup
		outcome := Refused
		done.Go(func() { _, outcome = s.Append(payload) })
		synctest.Wait()
		if w := s.queue.waiting; w != nil || s.queue.arrived.Load() != nil {
			t.Error("the append waits for a writer that has given up for now")
			s.queue.hold()
		}
		done.Wait()
		if outcome != Held {
			t.Errorf("got %s, want held", outcome)
		}
	})
}

// The frame is written between an append's look and its place in the queue, when
// all that were there have been told: nobody but itself can tell it.
func TestAnAppendThatIsWrittenBeforeItWaitsDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFaulty().open(t, Config{Dir: t.TempDir()})
		defer s.Close() //nolint:errcheck // never ran
		s.queue.stalled.Store(false)
		s.pool = &sync.Pool{New: func() any {
			to, _ := s.ring.whole(0, 1)
			s.ring.free(to)
			s.queue.release(to)
			return newPool().New()
		}}
		var done sync.WaitGroup
		outcome := Refused
		done.Go(func() { _, outcome = s.Append(payload) })
		synctest.Wait()
		if w := s.queue.waiting; w != nil || s.queue.arrived.Load() != nil {
			t.Error("the append waits for a writer that has nothing to write")
			s.queue.hold()
		}
		done.Wait()
		if outcome != Written {
			t.Errorf("got %s, want written", outcome)
		}
	})
}

func TestAnAppendThatIsWrittenSpeaksForNobodyBehindIt(t *testing.T) {
	t.Parallel()
	r, q := newRing(0), &queue{}
	first, second := &waiter{end: 16, done: make(chan Outcome, 1)}, &waiter{end: 32, done: make(chan Outcome, 1)}
	q.push(first)
	q.push(second)
	r.written.Store(first.end)
	q.lookAgain(r, first.end)
	if len(first.done) != 1 || <-first.done != Written {
		t.Error("the append that is written still waits")
	}
	if len(second.done) != 0 {
		t.Errorf("got %s for the append behind it, want it to wait", <-second.done)
	}
}

func TestAppendsAreKeptFromWaitingBeforeThoseWhoWaitAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		w := &waiter{done: make(chan Outcome)} // whoever tells it waits until it has heard
		q.push(w)
		var telling sync.WaitGroup
		telling.Go(q.hold)
		synctest.Wait()
		if !q.stalled.Load() {
			t.Error("an append that comes now would wait, and look in vain whether it should")
		}
		if o := <-w.done; o != Held {
			t.Errorf("got %s, want held", o)
		}
		telling.Wait()
	})
}

// trapOffsets is a ring whose offsets cannot be looked at: the address of the
// fault tells which of them is looked at first.
func trapOffsets(t *testing.T) (r *ring, reserved, written uintptr) {
	t.Helper()
	memory, spring := trap(t, 2*page)
	r = (*ring)(unsafe.Pointer(&memory[page-unsafe.Offsetof(r.reserved)])) // what comes before them can be looked at
	reserved, written = uintptr(unsafe.Pointer(&r.reserved)), uintptr(unsafe.Pointer(&r.written))
	spring(page, 2*page, unix.PROT_NONE)
	return r, reserved, written
}

func TestHeldIsMeasuredFromWrittenOn(t *testing.T) {
	t.Parallel()
	r, _, written := trapOffsets(t)
	if at := stops(t, func() { r.held() }); at != written {
		t.Error("a write in between would make the bytes that are held less than none")
	}
}

func TestRoomIsLookedForAfterTheOffset(t *testing.T) {
	t.Parallel()
	r, reserved, _ := trapOffsets(t)
	if at := stops(t, func() { r.reserve(wordBytes) }); at != reserved {
		t.Error("appends and a write in between would refuse an append that has room")
	}
}
