package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"waypost/deploy/process"
)

// ticks is what the kernel says of a process in its stat file, in hundredths of a second.
func ticks(t *testing.T, pid int) (n int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	for _, field := range strings.Fields(rest)[11:13] { // utime and stime
		v, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		n += v
	}
	return n
}

func TestCPUIsThatOfAProcessAndItsChildren(t *testing.T) {
	t.Parallel()
	p, err := process.Start(t.Context(), process.Spec{
		Name: "spinning", Path: "/bin/sh", Args: []string{"-c", "(while :; do :; done) & while :; do :; done"},
		Ready: func(_ context.Context, pid int) error {
			for _, one := range append(children(pid), pid) {
				if used, err := processCPU(one); err != nil || used < 50*time.Millisecond {
					return fmt.Errorf("%d used %s, %w", one, used, err)
				}
			}
			if len(children(pid)) != 1 {
				return errors.New("no child")
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	child := children(p.PID())[0]
	p.Pause()
	got := stands(t, p.PID())
	want := time.Duration(ticks(t, p.PID())+ticks(t, child)) * 10 * time.Millisecond
	if diff := (got - want).Abs(); diff > 40*time.Millisecond { // two counts of whole ticks each
		t.Errorf("got %s, want %s as in the kernel's ticks", got, want)
	}
	alone, err := processCPU(p.PID())
	if err != nil || got-alone < 50*time.Millisecond {
		t.Errorf("got %s with the child, %s without, error %v, want 50 ms more", got, alone, err)
	}
}

// stands reads the CPU of a tree once it does not grow any more: what was told to pause goes on until it is seen to.
func stands(t *testing.T, pid int) time.Duration {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for last := time.Duration(-1); ; {
		used, err := CPU(pid)
		if err != nil {
			t.Fatal(err)
		}
		if used == last {
			return used
		}
		last = used
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatal("the processes never paused")
		}
	}
}

func TestCPUOfAProcessThatIsGoneIsAnError(t *testing.T) {
	t.Parallel()
	p, err := process.Start(t.Context(), process.Spec{Name: "short", Path: "/bin/true"})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if used, err := CPU(p.PID()); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("got %s, error %v, want one that says that there is none", used, err)
	}
}
