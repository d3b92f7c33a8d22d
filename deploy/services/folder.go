package services

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	folderPrefix = "waypost-test-" // of every folder of a test cluster
	folderLock   = "owner.lock"
)

// folder holds one test cluster. Its lock is held by the process that made it for as long as that process lives, so
// that the next one can tell what was left behind by a test run that was killed, and remove it.
type folder struct {
	path   string
	unlock func()
}

// newFolder makes a folder that PostgreSQL's user can reach and sweeps away those of dead processes.
func newFolder() (*folder, error) {
	acc, err := postgresAccount()
	if err != nil {
		return nil, err
	}
	candidates := []string{os.TempDir(), "/tmp", "/var/tmp"}
	for _, base := range candidates {
		if ok, err := acc.reaches(filepath.Join(base, folderPrefix)); err != nil || !ok {
			continue
		}
		sweep(base)
		path, err := os.MkdirTemp(base, folderPrefix)
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(path, 0o755); err != nil { //nolint:gosec // PostgreSQL's user must pass; the cluster is 0700
			return nil, err
		}
		unlock, err := lockFile(filepath.Join(path, folderLock))
		if err != nil {
			return nil, err
		}
		return &folder{path: path, unlock: unlock}, nil
	}
	return nil, fmt.Errorf("none of %s can be reached by user %s, whom PostgreSQL runs as", strings.Join(candidates, ", "), acc.name)
}

func (f *folder) cluster() string { return filepath.Join(f.path, "cluster") }

// remove deletes the folder. What cannot be deleted now is left to the next sweep.
func (f *folder) remove() {
	freeSegment(f.cluster())
	_ = os.RemoveAll(f.path)
	f.unlock()
}

// sweep removes the folders below base whose owner is dead. It can only tidy up, so it reports nothing.
func sweep(base string) {
	paths, err := filepath.Glob(filepath.Join(base, folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range paths {
		lock, err := os.OpenFile(filepath.Join(path, folderLock), os.O_RDWR, 0) //nolint:gosec // found by our own prefix
		if err != nil {
			continue // being made, being removed, or another user's
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			dead := folder{path: path, unlock: func() {}}
			endOrphan(dead.cluster())
			dead.remove()
		}
		_ = lock.Close()
	}
}
