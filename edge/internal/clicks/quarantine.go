package clicks

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"waypost/shared/click"
)

// errNoRoom reports that refused stretches take as much disk as they may.
var errNoRoom = errors.New("quarantine is full")

// errNoQuarantine reports that there is no folder for it.
var errNoQuarantine = errors.New("no folder for what is refused or damaged")

// quarantine is the folder of what cannot be counted and is not given up:
// stretches that origins refuse, and files that cannot be read. Nothing in it is
// looked at again, nor deleted, before somebody has. It is used by one goroutine
// at a time, but for files and bytes.
type quarantine struct {
	dir    string // "": there is none
	most   int64  // bytes that refused stretches may bring it to
	logger *slog.Logger

	files, bytes atomic.Int64 // as last measured
}

const (
	asideSuffix = ".aside" // of what was moved here as it was
	heldSuffix  = ".held"  // of a stretch that the mark has not passed yet
)

// measure notes what is there. Folders count as a file of no size.
func (q *quarantine) measure() {
	entries, err := os.ReadDir(q.dir)
	if err != nil {
		return // not there, or what was known has to do
	}
	var size int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	q.files.Store(int64(len(entries)))
	q.bytes.Store(size)
}

// take moves a file or a folder here, under a name that nothing has. One that is
// gone needs no place.
func (q *quarantine) take(path string, why error) error {
	if q.dir == "" {
		return errNoQuarantine
	}
	if err := os.MkdirAll(q.dir, 0o700); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	to, err := q.free(filepath.Base(path) + asideSuffix)
	if err == nil {
		err = os.Rename(path, to)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	q.measure()
	q.logger.Error("clicks on disk cannot be counted, and are put into quarantine", slog.String("file", to), slog.Any("error", why))
	return errors.Join(syncFolder(filepath.Dir(path)), syncFolder(q.dir))
}

// free is the path of a name, or of that name and a number, at which there is
// nothing.
func (q *quarantine) free(name string) (string, error) {
	path := filepath.Join(q.dir, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", err
		}
		path = filepath.Join(q.dir, name+"."+strconv.Itoa(n))
	}
}

// hold keeps a stretch that is refused, as one that could be sent by itself. When
// it returns, it is decided that the stretch goes out of its log: a start finds
// it by pending.
func (q *quarantine) hold(p stored, stretch []byte) error {
	if q.dir == "" {
		return errNoQuarantine
	}
	b := alone(p, stretch)
	if q.measure(); q.bytes.Load()+int64(len(b)) > q.most {
		return fmt.Errorf("%w: %d bytes", errNoRoom, q.bytes.Load())
	}
	if err := os.MkdirAll(q.dir, 0o700); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	if err := writeDurably(q.held(p), b); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	q.measure()
	return nil
}

// held is where a stretch is until the mark has passed it.
func (q *quarantine) held(p stored) string { return shelf{dir: q.dir}.path(p) + heldSuffix }

// keep gives a stretch that is held its last name, now that the mark has passed
// it: the one under which a shelf would find it.
func (q *quarantine) keep(p stored) error {
	to := shelf{dir: q.dir}.path(apart(p))
	err := os.Rename(q.held(p), to)
	if errors.Is(err, os.ErrNotExist) {
		return nil // somebody was faster
	}
	if err == nil {
		err = syncFolder(q.dir)
	}
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}

// pending are the stretches that marks had not passed when the last process
// ended, by boot: there is one of each at most.
func (q *quarantine) pending() (map[string]stored, error) {
	entries, err := os.ReadDir(q.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	found := make(map[string]stored)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), heldSuffix)
		if p, is := parseStoredName(name); ok && is {
			found[p.boot] = p
		}
	}
	return found, nil
}

// alone is the file of a stretch that was taken out of its log: a whole log by
// itself, of which the origin has never heard, so that it can be shipped once
// the origin takes it. What cannot be read here either is kept as it is.
func alone(p stored, stretch []byte) []byte {
	if s, err := click.ParseStretch(stretch); err == nil {
		a := apart(p)
		s.Boot, s.From, s.To, s.Last = a.boot, a.from, a.to, false
		stretch = s.Append(nil)
	}
	return binary.BigEndian.AppendUint32(slices.Clip(stretch), checksum(stretch))
}

// apart names the log of a stretch that was taken out of its own: always the same
// for the same, and no boot's, which has its random bits.
func apart(p stored) stored {
	const bits = 8
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", p.boot, p.from, p.to))
	at, _, _ := strings.Cut(p.boot, "-") // when it began
	return stored{boot: at[:min(len(at), click.MaxLabel/2)] + "-" + hex.EncodeToString(sum[:bits]), to: p.to - p.from}
}
