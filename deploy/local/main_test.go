package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"waypost/deploy/freeport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within returns a context that bounds one step of a test.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls until the condition holds and fails the test when it does not in time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx := within(t)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("did not happen in time: %s", what)
		}
	}
}

// reachableDir returns a folder that PostgreSQL's user can pass, which t.TempDir's is not for root.
func reachableDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "waypost-local-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// buildStack builds the launcher and puts stand-ins for the services beside it. It returns the launcher's path.
func buildStack(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	launcher := filepath.Join(bin, "waypost-local")
	for target, source := range map[string]string{
		launcher:                         ".",
		filepath.Join(bin, edgeBinary):   "./testdata/service",
		filepath.Join(bin, originBinary): "./testdata/service",
	} {
		out, err := exec.CommandContext(within(t), "go", "build", "-o", target, source).CombinedOutput()
		if err != nil {
			t.Fatalf("go build %s: %v\n%s", source, err, out)
		}
	}
	return launcher
}

// freeShift returns a shift under which all ports are free and stay so until the tests end.
func freeShift(t *testing.T) (int, ports) {
	t.Helper()
	for range 100 {
		shift := 1000 + rand.IntN(20000)
		p, err := newPorts(shift)
		if err == nil && claimAll(t, p) {
			return shift, p
		}
	}
	t.Fatal("no shift found with all ports free")
	return 0, ports{}
}

// claimAll keeps the ports from other tests that run now. Those of a try that fails stay claimed: there are enough.
func claimAll(t *testing.T, p ports) bool {
	t.Helper()
	for _, c := range p.claims() {
		if !freeport.Claim(t.Context(), at(c.port)) {
			return false
		}
	}
	return true
}

// output collects what a process says. Safe for concurrent use.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// launcher is a running waypost-local.
type launcher struct {
	cmd            *exec.Cmd
	data           string
	ports          ports
	stdout, stderr output
}

// launch starts the launcher on free ports. The test's end kills it if it still runs.
func launch(t *testing.T, path, data string, env ...string) *launcher {
	t.Helper()
	shift, p := freeShift(t)
	l := &launcher{cmd: exec.Command(path), data: data, ports: p}
	l.cmd.Env = append(append(os.Environ(), dataEnv+"="+data, shiftEnv+"="+strconv.Itoa(shift)), env...)
	l.cmd.Stdout, l.cmd.Stderr = &l.stdout, &l.stderr
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if l.cmd.ProcessState == nil {
			_ = l.cmd.Process.Signal(syscall.SIGTERM)
			_ = l.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", l.stdout.String(), l.stderr.String())
		}
	})
	return l
}

// awaitReady waits for the line that says so.
func (l *launcher) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, "the line `waypost: ready`", func() bool {
		return strings.Contains(l.stdout.String(), "\nwaypost: ready\n")
	})
}

// wait returns the exit status.
func (l *launcher) wait() int {
	_ = l.cmd.Wait()
	return l.cmd.ProcessState.ExitCode()
}

// pids reads the pid file, name to pid.
func (l *launcher) pids(t *testing.T) map[string]int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(l.data, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	pids := make(map[string]int)
	for line := range strings.Lines(string(b)) {
		var name string
		var pid int
		if _, err := fmt.Sscanf(line, "%s %d\n", &name, &pid); err != nil {
			t.Fatalf("line %q of the pid file: %v", line, err)
		}
		pids[name] = pid
	}
	return pids
}

// alive reports whether a process exists and is no zombie that its parent has yet to collect.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	return ok && !strings.HasPrefix(rest, "Z")
}

// get asks a stand-in.
func get(t *testing.T, port int, path string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + at(port) + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
