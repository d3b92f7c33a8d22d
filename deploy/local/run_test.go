package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// partNames in the order they start in.
func partNames() []string {
	return []string{"postgres", "redis-eu", "redis-us", "nats", "origin", "edge-eu", "edge-us"}
}

func (l *launcher) sql(t *testing.T, query string, dest ...any) error {
	t.Helper()
	password, err := os.ReadFile(filepath.Join(l.data, "postgres.password"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(within(t), fmt.Sprintf("postgres://waypost:%s@%s/waypost?sslmode=disable",
		strings.TrimSpace(string(password)), at(l.ports.postgres)))
	if err != nil {
		return err
	}
	defer conn.Close(context.Background()) //nolint:errcheck // only asked
	if len(dest) > 0 {
		return conn.QueryRow(within(t), query).Scan(dest...)
	}
	_, err = conn.Exec(within(t), query)
	return err
}

func TestStackRunsRestartsWhatDiesStopsInOrderAndKeepsItsData(t *testing.T) {
	t.Parallel()
	path, data := buildStack(t), filepath.Join(reachableDir(t), "data")

	l := launch(t, path, data, "WAYPOST_LIMIT_MODE=off", "WAYPOST_REDIS_PREFIX=mine")
	l.awaitReady(t)
	first := l.pids(t)
	for _, name := range partNames() {
		if !alive(first[name]) {
			t.Errorf("%s: pid %d of the pid file does not run", name, first[name])
		}
	}
	if !strings.Contains(l.stdout.String(), "Bearer wp_test_key") {
		t.Error("the admin key is not in what was printed")
	}
	secret := get(t, l.ports.opsOrigin, "/env?name=WAYPOST_INTERNAL_SECRET")
	if len(secret) < 20 {
		t.Errorf("internal secret %q is short", secret)
	}
	for _, tt := range []struct {
		ops        int
		name, want string
	}{
		{l.ports.opsEU, "WAYPOST_INTERNAL_SECRET", secret},
		{l.ports.opsUS, "WAYPOST_INTERNAL_SECRET", secret},
		{l.ports.opsEU, "WAYPOST_REGION", "eu"},
		{l.ports.opsUS, "WAYPOST_REGION", "us"},
		{l.ports.opsUS, "WAYPOST_LIMIT_MODE", "off"},
		{l.ports.opsOrigin, "WAYPOST_REDIS_PREFIX", "mine"},
		{l.ports.opsUS, "WAYPOST_ORIGIN_URL", "http://" + at(l.ports.originInternal)},
		{l.ports.opsOrigin, "WAYPOST_PUBLIC_URL", "http://" + at(l.ports.edgeEU)},
		{l.ports.opsOrigin, dataEnv, ""},
	} {
		if got := get(t, tt.ops, "/env?name="+tt.name); got != tt.want {
			t.Errorf("%s of the service with ops port %d = %q, want %q", tt.name, tt.ops, got, tt.want)
		}
	}
	if err := l.sql(t, "CREATE TABLE kept AS SELECT 7 AS n"); err != nil {
		t.Fatalf("write to PostgreSQL: %v", err)
	}

	for _, name := range partNames() {
		before := l.pids(t)[name]
		if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
			t.Fatalf("kill %s: %v", name, err)
		}
		eventually(t, name+" in the pid file with another pid", func() bool {
			now := l.pids(t)[name]
			return now != 0 && now != before
		})
		want := fmt.Sprintf("waypost: %s: ended by itself (signal: killed, pid %d)\n", name, before)
		if !strings.Contains(l.stderr.String(), want) {
			t.Errorf("stderr lacks %q", want)
		}
		eventually(t, "on stderr that "+name+" runs again", func() bool {
			return strings.Contains(l.stderr.String(), "waypost: "+name+": running again, pid ")
		})
	}
	eventually(t, "the restarted edge-us answers", func() bool {
		resp, err := http.Get("http://" + at(l.ports.opsUS) + "/readyz")
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	last := l.pids(t)

	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := l.wait(); got != 0 {
		t.Errorf("exit status %d after SIGTERM, want 0", got)
	}
	var stopped []string
	for line := range strings.Lines(l.stdout.String()) {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(line, "waypost: "), " stopped\n"); ok {
			stopped = append(stopped, name)
		}
	}
	want := partNames()
	slices.Reverse(want)
	if !slices.Equal(stopped, want) {
		t.Errorf("stopped in the order %v, want %v", stopped, want)
	}
	for name, pid := range last {
		if alive(pid) {
			t.Errorf("%s, pid %d, still runs", name, pid)
		}
	}
	if _, err := os.Stat(filepath.Join(data, "pids")); !os.IsNotExist(err) {
		t.Errorf("the pid file of a stopped stack: %v, want none", err)
	}

	again := launch(t, path, data)
	again.awaitReady(t)
	var n int
	if err := again.sql(t, "SELECT n FROM kept", &n); err != nil || n != 7 {
		t.Errorf("after the second start n = %d, %v; want 7", n, err)
	}
	if got := get(t, again.ports.opsOrigin, "/env?name=WAYPOST_INTERNAL_SECRET"); got != secret {
		t.Errorf("internal secret of the second run = %q, want the first one, %q", got, secret)
	}

	other := launch(t, path, data)
	if got := other.wait(); got != 1 || !strings.Contains(other.stderr.String(), "another `make run` uses") {
		t.Errorf("a second stack on the same folder: exit status %d and %q; want 1 and who has it", got, other.stderr.String())
	}
}

func TestKilledLauncherLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	l := launch(t, buildStack(t), filepath.Join(reachableDir(t), "data"))
	l.awaitReady(t)
	pids := l.pids(t)
	if len(pids) != len(partNames()) {
		t.Fatalf("%d parts in the pid file, want %d", len(pids), len(partNames()))
	}
	if err := l.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	l.wait()
	for name, pid := range pids {
		eventually(t, "end of "+name, func() bool { return !alive(pid) })
	}
}

func TestPortInUseIsOneLineAndExitStatus1(t *testing.T) {
	t.Parallel()
	path := buildStack(t)
	shift, p := freeShift(t)
	taken, err := net.Listen("tcp", at(p.opsUS))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // nothing was accepted
	l := launch(t, path, filepath.Join(reachableDir(t), "data"), fmt.Sprintf("%s=%d", shiftEnv, shift))
	if got := l.wait(); got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
	got := l.stderr.String()
	if strings.Count(got, "\n") != 1 {
		t.Errorf("stderr is not one line:\n%s", got)
	}
	for _, want := range []string{fmt.Sprint(p.opsUS), "edge-us (ops)", shiftEnv} {
		if !strings.Contains(got, want) {
			t.Errorf("stderr %q does not name %s", got, want)
		}
	}
}

func TestServiceThatCannotStartEndsTheRunWithItsLog(t *testing.T) {
	t.Parallel()
	data := filepath.Join(reachableDir(t), "data")
	if err := makeDataFolder(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(data, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "logs", "origin.log"), []byte("of an earlier run\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := launch(t, buildStack(t), data, "WAYPOST_TEST_FAIL=1")
	if got := l.wait(); got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
	for _, want := range []string{"origin:", "exit status 3", "told to fail", filepath.Join(l.data, "logs", "origin.log")} {
		if !strings.Contains(l.stderr.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, l.stderr.String())
		}
	}
	if strings.Contains(l.stderr.String(), "of an earlier run") {
		t.Errorf("stderr has lines of an earlier run:\n%s", l.stderr.String())
	}
	for _, name := range []string{"nats", "redis-us", "redis-eu", "postgres"} {
		if !strings.Contains(l.stdout.String(), name+" stopped\n") {
			t.Errorf("%s was not stopped", name)
		}
	}
}

func TestStopWhileStartingEndsCleanly(t *testing.T) {
	t.Parallel()
	path, data := buildStack(t), filepath.Join(reachableDir(t), "data")
	signals := []syscall.Signal{syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) { // by nohup, which the stack would obey
		signals = append(signals, syscall.SIGHUP)
	}
	for _, sig := range signals {
		l := launch(t, path, data)
		eventually(t, "PostgreSQL is ready", func() bool { return strings.Contains(l.stdout.String(), "postgres  ready") })
		if err := l.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := l.wait(); got != 0 {
			t.Errorf("%v: exit status %d, want 0", sig, got)
		}
		if !strings.Contains(l.stdout.String(), "postgres stopped\n") {
			t.Errorf("%v: PostgreSQL was not stopped", sig)
		}
	}
}

func TestNohupIsObeyed(t *testing.T) {
	t.Parallel()
	_, p := freeShift(t)
	cmd := exec.Command("nohup", buildStack(t), "nats", "--port", strconv.Itoa(p.nats))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	// One bit a signal, the lowest for SIGHUP, which is 1.
	mask := func(name string) uint64 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(b), "\n"+name+":\t")
		digits, _, _ := strings.Cut(rest, "\n")
		bits, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return bits
	}
	eventually(t, "the server listens", func() bool {
		conn, err := net.Dial("tcp", at(p.nats))
		return err == nil && conn.Close() == nil
	})
	if caught, ignored := mask("SigCgt"), mask("SigIgn"); caught&1 != 0 || ignored&1 == 0 {
		t.Errorf("SIGHUP caught: %v, ignored: %v; want it ignored", caught&1 != 0, ignored&1 != 0)
	}
}

func TestBadEnvironmentIsOneMessageWithEveryFault(t *testing.T) {
	t.Parallel()
	_, err := loadConfig([]string{
		shiftEnv + "=x", "WAYPOST_LISTEN=:80", "WAYPOST_OPS_LISTEN=:81", "WAYPOST_INTERNAL_LISTEN=:82", "WAYPOST_STATE_DIR=/x",
		"WAYPOST_REGION=eu", "WAYPOST_EDGE_ID=a", "WAYPOST_LOG_LEVEL=debug",
	}, filepath.Join(t.TempDir(), "waypost-local"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`"x" is not a whole number`, "no " + originBinary, "no " + edgeBinary,
		"WAYPOST_LISTEN cannot be the same for all processes: unset it; move all ports with " + shiftEnv,
		"WAYPOST_OPS_LISTEN cannot", "WAYPOST_INTERNAL_LISTEN cannot", "WAYPOST_REGION cannot", "WAYPOST_EDGE_ID cannot",
		"WAYPOST_STATE_DIR cannot be the same for all processes: unset it; move all data with " + dataEnv,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "WAYPOST_LOG_LEVEL") {
		t.Errorf("error %q refuses what all processes can share", err)
	}
}

func TestMakeHelpNamesTheLaunchersVariables(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(within(t), "make", "-s", "-C", filepath.Join("..", ".."), "help").CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v\n%s", err, out)
	}
	for _, want := range []string{dataEnv, shiftEnv} {
		if !strings.Contains(string(out), want) {
			t.Errorf("make help lacks %s:\n%s", want, out)
		}
	}
}
