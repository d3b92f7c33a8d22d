package services

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// BuildLocal builds waypost-local with the go command on PATH, from the module of the calling folder, and returns
// its path. The user's cache folder keeps it, so that a second call costs what an up-to-date `go build` costs.
// Processes that call at the same time take turns.
func BuildLocal(ctx context.Context) (path string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("build waypost-local: %w", err)
	}
	dir := filepath.Join(cache, "waypost")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("build waypost-local: %w", err)
	}
	unlock, err := lockFile(filepath.Join(dir, "build.lock"))
	if err != nil {
		return "", fmt.Errorf("build waypost-local: %w", err)
	}
	defer unlock()
	path = filepath.Join(dir, "waypost-local")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "waypost/deploy/local") //nolint:gosec // fixed arguments
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build waypost/deploy/local: %w:\n%s", err, out)
	}
	return path, nil
}

// lockFile waits for the exclusive lock on a file, which it makes if it is missing. The kernel releases the lock
// when this process ends, however it ends.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the caller's own path
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}
