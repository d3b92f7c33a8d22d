package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within returns a context that bounds one step of a test.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func shell(line string) Spec {
	return Spec{Name: "part", Path: "/bin/sh", Args: []string{"-c", line}}
}

// start starts s and kills what is left of it at the test's end.
func start(t *testing.T, s Spec) *Process {
	t.Helper()
	p, err := Start(within(t), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// exists is a Ready that waits for a file.
func exists(path string) func(context.Context, int) error {
	return func(context.Context, int) error {
		_, err := os.Stat(path)
		return err
	}
}

// state returns the letter that the kernel gives a process: R, S, T (stopped), Z; "" when it is gone.
func state(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

// eventually polls until the condition holds and fails the test when it does not in time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx := within(t)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("did not happen in time: %s", what)
		}
	}
}

func TestOutputAndEnvironmentReachTheirPlaces(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := shell(`echo "$FIRST $SECOND"; echo fault >&2; exit 3`)
	s.Env, s.Add, s.Output = []string{"FIRST=1", "SECOND=1"}, []string{"SECOND=2"}, &out
	p := start(t, s)
	err := p.Wait()
	if err == nil || err.Error() != "exit status 3" {
		t.Errorf("Wait = %v, want exit status 3", err)
	}
	if got, want := out.String(), "1 2\nfault\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

func TestStartReturnsOnceReady(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ready")
	s := shell("touch " + file + "; exec sleep 600")
	s.Ready = exists(file)
	p := start(t, s)
	if _, err := os.Stat(file); err != nil {
		t.Errorf("Start returned before it was ready: %v", err)
	}
	if err := p.Stop(within(t)); err != nil {
		t.Errorf("Stop = %v", err)
	}
	if err := p.Stop(within(t)); err != nil {
		t.Errorf("second Stop = %v", err)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	never := func(context.Context, int) error { return errors.New("silence") }
	short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	tests := []struct {
		name string
		ctx  context.Context //nolint:containedctx // a case of a table
		spec Spec
		want string
	}{
		{"no such program", within(t), Spec{Name: "part", Path: "/nowhere/program"}, "no such file"},
		{"ends first", within(t), Spec{Name: "part", Path: "/bin/sh", Args: []string{"-c", "exit 5"}, Ready: never}, "exit status 5"},
		{"ends first without a fault", within(t), Spec{Name: "part", Path: "/bin/true", Ready: never}, "exit status 0"},
		{"never ready", short, Spec{Name: "part", Path: "/bin/sleep", Args: []string{"600"}, Ready: never}, "silence"},
	}
	for _, tt := range tests {
		p, err := Start(tt.ctx, tt.spec)
		if err == nil {
			p.Kill()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

func TestStopKillsWhatIsDeafOnceItsContextEnds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deaf")
	s := shell("trap '' TERM; touch " + file + "; while :; do sleep 1; done")
	s.Ready = exists(file)
	p := start(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := p.Stop(ctx); !errors.Is(err, ErrKilled) {
		t.Errorf("Stop = %v, want ErrKilled", err)
	}
	select {
	case <-p.Done():
	default:
		t.Error("Done is open after Stop")
	}
}

func TestPauseResumeAndKillReachDescendants(t *testing.T) {
	t.Parallel()
	// The child leads a session of its own, as PostgreSQL's backends do.
	p := start(t, shell("setsid sleep 600 & wait"))
	eventually(t, "a child", func() bool { return len(descendants(p.PID())) == 1 })
	child := descendants(p.PID())[0]

	p.Pause()
	eventually(t, "both stopped", func() bool { return state(p.PID()) == "T" && state(child) == "T" })
	p.Resume()
	eventually(t, "both going on", func() bool { return state(p.PID()) == "S" && state(child) == "S" })
	p.Kill()
	eventually(t, "the child gone", func() bool { return state(child) == "" || state(child) == "Z" })
	if err := p.Wait(); err == nil || err.Error() != "signal: "+syscall.SIGKILL.String() {
		t.Errorf("Wait = %v, want killed", err)
	}
}
