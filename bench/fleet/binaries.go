package fleet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

const (
	originBinary = "waypost-origin"
	edgeBinary   = "waypost-edge"
)

// Binaries are the services as built with the race detector. Safe for concurrent use.
type Binaries struct {
	tags string // of the build

	mu    sync.Mutex
	dir   string
	built bool // by this process, into a temporary folder
}

// NewBinaries takes the binaries in dir, an absolute folder. With "" they are built at their first use with the tags, by
// the go command on PATH, from the workspace of the current folder; Remove ends what that left.
func NewBinaries(dir string, tags ...string) *Binaries {
	return &Binaries{dir: dir, tags: strings.Join(tags, ",")}
}

// Remove deletes what was built.
func (b *Binaries) Remove() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.built {
		return nil
	}
	dir := b.dir
	b.dir, b.built = "", false
	return os.RemoveAll(dir)
}

// Path is that of one of the binaries, by its name, built if it must be.
func (b *Binaries) Path(ctx context.Context, name string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" {
		dir, err := build(ctx, b.tags)
		if err != nil {
			return "", err
		}
		b.dir, b.built = dir, true
	}
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("binary of a service: %w", err)
	}
	return path, nil
}

// build makes all binaries in a new temporary folder.
func build(ctx context.Context, tags string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "waypost-race-")
	if err != nil {
		return "", err
	}
	for name, pkg := range map[string]string{originBinary: "waypost/origin", edgeBinary: "waypost/edge"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-race", "-tags", tags, "-o", filepath.Join(dir, name), pkg) //nolint:gosec // fixed arguments
		if out, err := cmd.CombinedOutput(); err != nil {
			_ = os.RemoveAll(dir)
			return "", fmt.Errorf("go build -race %s: %w:\n%s", pkg, err, out)
		}
	}
	return dir, nil
}
