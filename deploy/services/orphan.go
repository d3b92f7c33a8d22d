package services

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"waypost/deploy/process"
)

// pidFile is what PostgreSQL writes at start and removes at a clean stop: the process id on its first line, key and
// id of its shared memory segment on its seventh.
const pidFile = "postmaster.pid"

// endOrphan ends the server of a cluster whose test process died while the server was paused: a stopped process
// does not see its death signal. It returns when the server is gone, or after a few seconds.
func endOrphan(cluster string) {
	pid, err := strconv.Atoi(pidFileLine(cluster, 1))
	if err != nil {
		return
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !slices.Contains(strings.Split(string(args), "\x00"), cluster) {
		return // the id belongs to somebody else by now
	}
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	process.SignalTree(pid, syscall.SIGCONT)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for range 250 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		<-ticker.C
	}
}

// freeSegment removes the System V segment of a cluster that was killed and will not be started again. It is tiny,
// but the kernel keeps it for ever and has room for a few thousand only.
func freeSegment(cluster string) {
	fields := strings.Fields(pidFileLine(cluster, 7))
	if len(fields) != 2 {
		return
	}
	if id, err := strconv.Atoi(fields[1]); err == nil {
		_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
}

// pidFileLine returns a line of the cluster's pid file, counted from 1; "" when there is none.
func pidFileLine(cluster string, n int) string {
	b, err := os.ReadFile(filepath.Join(cluster, pidFile)) //nolint:gosec // in a folder found by our own prefix
	if err != nil {
		return ""
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) < n {
		return ""
	}
	return lines[n-1]
}
