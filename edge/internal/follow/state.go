package follow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"waypost/shared/feed"
	"waypost/shared/pace"
)

const (
	stateFile = "floors"
	stateNext = "floors.new"
)

// errInUse says that another edge keeps its state in the folder.
var errInUse = errors.New("another process is using it")

// State is an edge's state folder, held by one process at a time. Load, take and
// save are for one goroutine at a time.
type State struct {
	dir  string
	lock *os.File
	disk disk
	buf  []byte // what is saved, kept for its memory
	pace *pace.Pace
}

// disk is what saving needs of a file system.
type disk interface {
	create(path string) (file, error)
	rename(from, to string) error
	syncDir(dir string) error
}

type file interface {
	io.WriteCloser
	Sync() error
}

// OpenState takes hold of a state folder and makes it where it is missing. The
// error says so where another process holds it. It is the folder itself that is
// locked: on a full or read-only disk no file could be made for that.
func OpenState(dir string) (*State, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	lock, err := os.Open(dir) //nolint:gosec // the path is configured
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return &State{dir: dir, lock: lock, disk: osDisk{}, pace: pace.New()}, nil
	}
	_ = lock.Close() // nothing was written
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errInUse
	}
	return nil, fmt.Errorf("state folder %s: %w", dir, err)
}

// Close lets go of the folder.
func (s *State) Close() error {
	// A child that is being forked this moment has it open until its exec.
	return errors.Join(unix.Flock(int(s.lock.Fd()), unix.LOCK_UN), s.lock.Close())
}

// Load reads what the last process saved; slots is the table's size. It is nil
// where there is nothing, and nil with an error that says why where there is
// something that cannot be used, which is as nothing.
func (s *State) Load(slots int) (*feed.Saved, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing was saved: no value and no fault
	}
	if err != nil {
		return nil, fmt.Errorf("saved floors: %w", err)
	}
	saved, err := feed.ParseSaved(b, slots)
	if err != nil {
		return nil, fmt.Errorf("saved floors: %w", err)
	}
	// A lease of the config shard vouches for the rows as well.
	epoch, applied, ok := saved.Restore().Position(feed.ConfigShard)
	if cfg := saved.Config; ok && (cfg == nil || cfg.Epoch < epoch || cfg.Epoch == epoch && cfg.Seq < applied) {
		return nil, fmt.Errorf("saved floors: the config is not that of its position: %w", feed.ErrFormat)
	}
	return saved, nil
}

// take reads what save is to write.
func (s *State) take(table *feed.Table, config func() *feed.Config) {
	s.buf = table.Append(s.buf[:0], config, s.pace.Look)
}

// save writes what is to be found by Load. After it has returned nil that
// holds whatever happens; when it fails, or the machine does, what was there
// before is still there.
func (s *State) save() error {
	next := filepath.Join(s.dir, stateNext)
	if err := s.write(next); err != nil {
		return fmt.Errorf("save floors: %w", err)
	}
	// The content is on the disk before the name points to it, and the name
	// before anybody relies on it.
	if err := s.disk.rename(next, filepath.Join(s.dir, stateFile)); err != nil {
		return fmt.Errorf("save floors: %w", err)
	}
	if err := s.disk.syncDir(s.dir); err != nil {
		return fmt.Errorf("save floors: %w", err)
	}
	return nil
}

func (s *State) write(path string) error {
	f, err := s.disk.create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(s.buf)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

type osDisk struct{}

func (osDisk) create(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // the path is configured
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the path is configured
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
