package load

import (
	"context"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waitMost bounds the wait for an event, so that the clock and the context are looked at.
const waitMost = 50 * time.Millisecond

// How a loop's thread is scheduled among those of its core: before nearly all others, and for so many nanoseconds at a
// time.
const (
	niceness = -20
	slice    = 100_000
)

// run is one loop of a generator, on a thread of its own while it lasts.
type run struct {
	g      *Generator
	start  time.Time
	last   time.Time       // when all must have been answered
	heard  time.Time       // when something came last
	before time.Duration   // the thread's CPU …
	sched  *unix.SchedAttr // … and how the kernel schedules it, before; nil: the kernel did not tell
	got    Result
}

// begin takes the calling goroutine's thread for a loop of so long. release must follow, whatever becomes of the loop.
func (g *Generator) begin(lasting time.Duration) *run {
	runtime.LockOSThread()
	r := &run{g: g, got: Result{Late: newTimes()}}
	// The kernel may end a wait of this thread late by 50 µs otherwise, and what shares its core with it may keep it from
	// that core for milliseconds: until the other's slice has ended, unless its own is shorter (Linux 6.12). Where the
	// kernel refuses (it takes root), the requests' lateness shows it.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	if sched, err := unix.SchedGetAttr(0, 0); err == nil {
		r.sched = sched
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Nice: niceness, Runtime: slice}, 0)
	}
	for _, name := range g.plan.Classes {
		r.got.Classes = append(r.got.Classes, Class{Name: name, Times: newTimes()})
	}
	r.before = threadCPU()
	r.start = time.Now()
	r.heard, r.last = r.start, r.start.Add(lasting+g.plan.Patience)
	return r
}

// release gives the thread back as it was.
func (r *run) release() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // 0: the default
	if r.sched != nil {
		_ = unix.SchedSetAttr(0, r.sched, 0)
	}
	runtime.UnlockOSThread()
}

// since is the time from the loop's start.
func (r *run) since() time.Duration { return time.Since(r.start) }

// answered reads what has come by a connection, and counts the answer, which is checked, once it is whole.
func (r *run) answered(c *conn) (class int, whole bool, err error) {
	a, whole, err := c.receive(r.g.buf[:])
	if err != nil || !whole {
		return 0, false, err
	}
	if err := r.g.plan.Asks[c.out].check(a); err != nil {
		return 0, false, err
	}
	r.got.Answers++
	r.got.Bytes += a.size
	class = r.g.plan.Class(c.out, a.head)
	c.out = none
	return class, true, nil
}

// end is what the loop got, all answers of which have come.
func (r *run) end() Result {
	r.got.Took = r.since()
	r.got.Busy = threadCPU() - r.before
	return r.got
}

// await waits for something to come, at most so long. It is an error if that has exhausted the plan's patience.
func (r *run) await(ctx context.Context, most time.Duration) ([]unix.EpollEvent, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, err := r.g.wait(most)
	now := time.Now()
	switch {
	case err != nil:
		return nil, err
	case now.After(r.last):
		return nil, fmt.Errorf("after %d answers: not all had come %s after the loop's end", r.got.Answers, r.g.plan.Patience)
	case n > 0:
		r.heard = now
	case now.Sub(r.heard) > r.g.plan.Patience && r.g.awaited():
		return nil, fmt.Errorf("no answer for %s", r.g.plan.Patience)
	}
	return r.g.events[:n], nil
}

// wait waits for events, at most so long and less than a second. A wait for requests that are due needs nanoseconds, which
// epoll_pwait2 alone knows (Linux 5.11).
func (g *Generator) wait(most time.Duration) (int, error) {
	limit := unix.NsecToTimespec(int64(max(most, 0)))
	//nolint:gosec // golang.org/x/sys has no function for this call; both pointers last as long as it does
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(g.poll), uintptr(unsafe.Pointer(&g.events)), maxEvents,
		uintptr(unsafe.Pointer(&limit)), 0, 0)
	switch errno {
	case 0:
		return int(n), nil
	case unix.EINTR:
		return 0, nil
	default:
		return 0, fmt.Errorf("epoll: %w", errno)
	}
}

// awaited says whether an answer is on its way.
func (g *Generator) awaited() bool {
	for i := range g.conns {
		if g.conns[i].out != none {
			return true
		}
	}
	return false
}

// threadCPU is what the calling thread has used of its core, in user and in kernel mode.
func threadCPU() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0 // Linux has this clock
	}
	return time.Duration(t.Nano())
}
