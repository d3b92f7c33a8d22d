package fleet

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Pin keeps the process, with the threads that it has and those that it will have, on one core.
func (p *Process) Pin(tb testing.TB, core int) {
	tb.Helper()
	proc := p.current()
	if proc == nil {
		tb.Fatalf("pin %s: it does not run", p.Name)
	}
	pin(tb, proc.PID(), strconv.Itoa(core))
}

// PinHere keeps this process, and whatever it starts from now on, on one core until the test ends.
func PinHere(tb testing.TB, core int) {
	tb.Helper()
	said := taskset(tb, "--cpu-list", "--pid", strconv.Itoa(os.Getpid()))
	_, before, _ := strings.Cut(said, ": ")
	pin(tb, os.Getpid(), strconv.Itoa(core))
	tb.Cleanup(func() { pin(tb, os.Getpid(), strings.TrimSpace(before)) })
}

// pin confines all threads of a process to cores, in taskset's words such as 0-3.
func pin(tb testing.TB, pid int, cores string) {
	tb.Helper()
	taskset(tb, "--all-tasks", "--cpu-list", "--pid", cores, strconv.Itoa(pid))
}

func taskset(tb testing.TB, args ...string) (said string) {
	tb.Helper()
	out, err := exec.Command("taskset", args...).CombinedOutput() //nolint:gosec,noctx // numbers alone; it only asks the kernel, also at the test's end
	if err != nil {
		tb.Fatalf("taskset %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
