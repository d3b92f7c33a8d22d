package spool

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// file is a segment that is being written.
type file interface {
	// WriteAt writes all of p or says how much it wrote and why not more.
	WriteAt(p []byte, at int64) (int, error)
	// sync returns once what was written survives the loss of power.
	sync() error
	// seal ends the file at size bytes and closes it, whatever fails.
	seal(size int64) error
}

// create makes (or empties) the file of a segment, in a folder that it makes if
// missing, and writes its header. With durable, file and folders survive the
// loss of power.
type create func(path string, header []byte, durable bool) (file, error)

type osFile struct{ *os.File }

func (f osFile) sync() error {
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return fmt.Errorf("fdatasync %s: %w", f.Name(), err)
	}
	return nil
}

func (f osFile) seal(size int64) error {
	cut := f.Truncate(size)
	if err := f.Close(); err != nil {
		return err
	}
	return cut
}

func createFile(path string, header []byte, durable bool) (file, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the path is made of the configured folder and numbers
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(header); err == nil && durable {
		err = syncAll(osFile{f}, dir, filepath.Dir(dir))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return osFile{f}, nil
}

// syncAll makes a new file durable, with its entry in each of the folders.
func syncAll(f osFile, dirs ...string) error {
	if err := f.sync(); err != nil {
		return err
	}
	for _, path := range dirs {
		dir, err := os.Open(path) //nolint:gosec // a folder of the spool
		if err != nil {
			return err
		}
		err = dir.Sync()
		_ = dir.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
