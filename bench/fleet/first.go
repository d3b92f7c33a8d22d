package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// autogroup is where the kernel shows, and takes, the niceness of this process' session as a whole. There is none where
// sessions do not have a share of a core each.
const autogroup = "/proc/self/autogroup"

// firstSlice is for how long Redis runs before somebody else may, in nanoseconds: it waits as little for its turn
// (Linux 6.12).
const firstSlice = 100_000

// First has every Redis of the fleet go before the origin, PostgreSQL and NATS with which it shares a core, until the
// test ends: an edge's Redis stands beside the edge, all of these on other machines. PostgreSQL's backends are sessions of
// their own, each of which has as much of a core as all that this session runs; it gets more. It takes root; without
// it Redis and the load wait for their turns, for milliseconds, which the report's lateness shows.
func (f *Fleet) First(tb testing.TB) {
	tb.Helper()
	if err := os.WriteFile(autogroup, []byte("-10"), 0); err != nil {
		tb.Logf("this session before others: %v", err)
	} else {
		tb.Cleanup(func() {
			if err := os.WriteFile(autogroup, []byte("0"), 0); err != nil {
				tb.Errorf("this session as before: %v", err)
			}
		})
	}
	for region, r := range f.Redis {
		if err := first(r.PID()); err != nil {
			tb.Logf("Redis of %s before others: %v", region, err)
		}
	}
}

// first has all threads of a process go before those of others.
func first(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return err
	}
	var failed []error
	for _, thread := range threads {
		tid, err := strconv.Atoi(filepath.Base(thread))
		if err == nil {
			err = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Nice: -19, Runtime: firstSlice}, 0)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
