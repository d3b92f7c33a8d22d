package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is what processes and all that descends from them have used of the processors so far, in user and in kernel mode,
// by the kernel's account in nanoseconds, threads that have ended included. A descendant that has ended is not, so
// those that are to be compared must live on. A process that is gone is an error.
func CPU(pids ...int) (sum time.Duration, err error) {
	for _, pid := range pids {
		used, err := processCPU(pid)
		if err != nil {
			return 0, fmt.Errorf("CPU of process %d: %w", pid, err)
		}
		below, err := CPU(children(pid)...)
		if err != nil {
			return 0, err
		}
		sum += used + below
	}
	return sum, nil
}

// processCPU reads the CPU clock of a process, whose id is made of the process' as clock_getcpuclockid(3) makes it:
// the bits of the id inverted, above three bits that say "of a process, by the scheduler".
func processCPU(pid int) (time.Duration, error) {
	const byScheduler = 2
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|byScheduler), &t) //nolint:gosec // a process id has 22 bits at most
	return time.Duration(t.Nano()), err
}

// children are a process' own; of one that is gone there are none.
func children(pid int) (all []int) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // a file a thread
	if err != nil {
		return nil // not of this pattern
	}
	for _, file := range files {
		line, err := os.ReadFile(file) //nolint:gosec // a path below /proc made from a number
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(line)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
