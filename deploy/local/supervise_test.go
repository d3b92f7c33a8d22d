package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"waypost/deploy/process"
)

// shell is a part that runs a line of shell.
func shell(t *testing.T, line string) (*keeper, *output) {
	t.Helper()
	dir := t.TempDir()
	log := &logFile{path: filepath.Join(dir, "part.log"), limit: logLimit}
	if err := log.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	said := &output{}
	return &keeper{
		part: part{
			name: "part", log: log, ready: atOnce,
			start: func(ctx context.Context) (*process.Process, error) {
				return process.Start(ctx, process.Spec{Name: "part", Path: "/bin/sh", Args: []string{"-c", line}, Output: log})
			},
		},
		pids:     newPIDFile(filepath.Join(dir, "pids")),
		say:      &printer{out: said, err: said},
		patience: patience{first: time.Millisecond, longest: 4 * time.Millisecond, settled: time.Hour, stop: time.Minute},
	}, said
}

// runKeeper runs k until stop is called, which returns what Run did.
func runKeeper(t *testing.T, k *keeper) (stop func() error) {
	t.Helper()
	if err := k.begin(within(t)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- k.Run(ctx) }()
	return func() error {
		cancel()
		return <-result
	}
}

func TestPauseBetweenStartsGrowsToItsLimit(t *testing.T) {
	t.Parallel()
	k, said := shell(t, "exit 4")
	stop := runKeeper(t, k)
	eventually(t, "five starts", func() bool { return strings.Count(said.String(), "starting again in") >= 5 })
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	var pauses []string
	for line := range strings.Lines(said.String()) {
		if _, rest, ok := strings.Cut(line, "starting again in "); ok {
			pauses = append(pauses, strings.Fields(rest)[0])
		}
	}
	if got, want := strings.Join(pauses[:5], " "), "1ms 2ms 4ms 4ms 4ms"; got != want {
		t.Errorf("pauses %s, want %s", got, want)
	}
	if !strings.Contains(said.String(), "part: ended by itself (exit status 4, pid ") {
		t.Errorf("the end is not named with its exit:\n%s", said.String())
	}
}

func TestPauseStartsAnewForAPartThatHadSettled(t *testing.T) {
	t.Parallel()
	k, said := shell(t, "exit 0")
	k.patience.settled = 0
	stop := runKeeper(t, k)
	eventually(t, "three starts", func() bool { return strings.Count(said.String(), "starting again in") >= 3 })
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if got := strings.Count(said.String(), "starting again in 1ms "); got < 3 {
		t.Errorf("%d first pauses, want at least 3:\n%s", got, said.String())
	}
}

func TestPartThatDoesNotStopIsKilled(t *testing.T) {
	t.Parallel()
	k, _ := shell(t, "trap '' TERM; echo deaf; while :; do read -r _ <>/dev/zero; done")
	k.patience.stop = 50 * time.Millisecond
	stop := runKeeper(t, k)
	eventually(t, "the part ignores SIGTERM", func() bool { return len(k.part.log.tail(100)) > 0 })
	if err := stop(); !errors.Is(err, process.ErrKilled) {
		t.Errorf("Run = %v, want ErrKilled", err)
	}
}
