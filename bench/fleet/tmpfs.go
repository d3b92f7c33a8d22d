package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Tmpfs mounts a file system in memory of so many bytes until the test's end, and returns its folder. It takes root, or
// sudo without a password; readOnly makes it one on which nothing can be written.
func Tmpfs(tb testing.TB, size int64, readOnly bool) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	access := "rw"
	if readOnly {
		access = "ro"
	}
	options := fmt.Sprintf("size=%d,mode=0700,uid=%d,%s", size, os.Geteuid(), access)
	if err := asRoot(tb.Context(), "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := asRoot(context.WithoutCancel(tb.Context()), "umount", dir); err != nil {
			tb.Error(err)
		}
	})
	return dir
}

func asRoot(ctx context.Context, command ...string) error {
	if os.Geteuid() != 0 {
		command = append([]string{"sudo", "-n"}, command...)
	}
	if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil { //nolint:gosec // this package's own words
		return fmt.Errorf("%v: %w: %s", command, err, out)
	}
	return nil
}

// Fill writes to a file in a folder until its file system is full, and returns what removes the file. Called again it
// takes the room that has become free since.
func Fill(tb testing.TB, dir string) (free func()) {
	tb.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // a file in the test's own folder
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // what is in it says nothing
	for size := 1 << 20; size > 0; size /= 2 {
		for block := make([]byte, size); err == nil; {
			_, err = f.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			tb.Fatalf("fill %s: %v", dir, err)
		}
		err = nil
	}
	return func() {
		if err := os.Remove(path); err != nil {
			tb.Error(err)
		}
	}
}
