package clicks

import (
	"os"
	"path/filepath"
)

// temporarySuffix ends the names of files that are not complete.
const temporarySuffix = ".tmp"

// writeDurably makes a file that is there whole or not at all, whatever happens
// meanwhile, and that survives the loss of power.
func writeDurably(path string, b []byte) error {
	temporary := path + temporarySuffix
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the path is made of the configured folder and numbers
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // it takes room, and says nothing
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes what was renamed or removed in a folder durable.
func syncFolder(path string) error {
	dir, err := os.Open(path) //nolint:gosec // the configured folder
	if err != nil {
		return err
	}
	err = dir.Sync()
	if closed := dir.Close(); err == nil {
		err = closed
	}
	return err
}
