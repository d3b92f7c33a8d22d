package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// signal sends sig to the process unless it has ended. The process may end at any moment, so ESRCH means nothing.
func (p *Process) signal(sig syscall.Signal) {
	select {
	case <-p.done: // the id may belong to another process by now
	default:
		_ = syscall.Kill(p.pid, sig)
	}
}

func (p *Process) signalTree(sig syscall.Signal) {
	select {
	case <-p.done:
	default:
		SignalTree(p.pid, sig)
	}
}

// SignalTree sends sig to the process pid first, so that it starts no further children, then to all its descendants.
// Process groups do not do: each backend of PostgreSQL leads a session of its own.
func SignalTree(pid int, sig syscall.Signal) {
	before := descendants(pid) // a killed parent has none any more
	_ = syscall.Kill(pid, sig)
	for _, child := range slices.Concat(before, descendants(pid)) {
		_ = syscall.Kill(child, sig)
	}
}

// descendants returns the ids of all living descendants of pid.
func descendants(pid int) []int {
	// A file a thread, one line of ids each. A process that is gone, or a kernel without these files, has none.
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var all []int
	for _, file := range files {
		line, err := os.ReadFile(file) //nolint:gosec // a path below /proc made from a number
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(line)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(append(all, child), descendants(child)...)
			}
		}
	}
	return all
}
