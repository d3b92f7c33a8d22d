package services

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// startForOrphans makes a run of this test binary start servers, print their process ids and wait to be killed.
const startForOrphans = "WAYPOST_TEST_START_FOR_ORPHANS"

// TestServersToBeOrphaned does nothing unless TestNoServerOutlivesItsTestProcess runs it in a process of its own.
func TestServersToBeOrphaned(t *testing.T) {
	if os.Getenv(startForOrphans) == "" {
		return
	}
	Postgres(t)
	paused := PrivatePostgres(t)
	paused.Pause()
	fmt.Println("pids", shared.pg.PID(), paused.PID(), Redis(t).PID(), NATS(t).PID())
	select {}
}

// alive reports whether a process exists and is no zombie that its new parent has yet to collect.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	return ok && !strings.HasPrefix(rest, "Z")
}

func TestNoServerOutlivesItsTestProcess(t *testing.T) {
	tmp := t.TempDir()
	for dir := tmp; dir != os.TempDir() && len(dir) > 1; dir = dir[:strings.LastIndexByte(dir, '/')] {
		if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL's user has to pass
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServersToBeOrphaned$")
	cmd.Env = append(os.Environ(), startForOrphans+"=1", "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	var said strings.Builder
	for lines := bufio.NewScanner(out); len(pids) == 0 && lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if list, ok := strings.CutPrefix(lines.Text(), "pids "); ok {
			for field := range strings.FieldsSeq(list) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
		}
	}
	if len(pids) != 4 {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("the other process started %d servers, want 4; it said:\n%s", len(pids), said.String())
	}
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("process %d is gone before its parent is", pid)
		}
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	shared, paused, redis, nats := pids[0], pids[1], pids[2], pids[3]
	for _, pid := range []int{shared, redis, nats} {
		eventually(t, fmt.Sprintf("end of process %d", pid), func() bool { return !alive(pid) })
	}
	sweep(tmp)
	eventually(t, "end of the paused PostgreSQL once swept", func() bool { return !alive(paused) })
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), folderPrefix) {
			t.Errorf("%s is left", entry.Name())
		}
	}
}
