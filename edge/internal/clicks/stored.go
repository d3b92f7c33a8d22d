package clicks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"waypost/shared/click"
)

// errDamaged reports a stored stretch that is not what was stored.
var errDamaged = errors.New("stored stretch is damaged")

// stored is a stretch in a file of its own, which stands for its part of a log
// whose segments may be gone. Its bounds never change.
type stored struct {
	boot     string
	from, to uint64
	bytes    int64 // of the file
	clicks   uint64
	missing  uint64 // as in a parcel
	first    int64  // time of the first click, microseconds since 1970; 0: not known
	pinned   bool   // was or may have been sent: it must go out as it is

	unread time.Time // since when it cannot be read
	aside  bool      // the log goes on without it
	why    error     // nil: a mark stands within it
}

// shelf is the folder of stored stretches.
type shelf struct {
	dir        string
	quarantine *quarantine // takes what cannot be read
}

const storedSuffix = ".stretch"

// path is the file's name: boot, from and to, 16 hex digits each.
func (s shelf) path(p stored) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s.%016x.%016x%s", p.boot, p.from, p.to, storedSuffix))
}

func parseStoredName(name string) (p stored, ok bool) {
	parts := strings.Split(strings.TrimSuffix(name, storedSuffix), ".")
	if n := len(parts); n >= 3 { // a boot may have dots
		var noFrom, noTo error
		p.boot = strings.Join(parts[:n-2], ".")
		p.from, noFrom = strconv.ParseUint(parts[n-2], 16, 64)
		p.to, noTo = strconv.ParseUint(parts[n-1], 16, 64)
		ok = noFrom == nil && noTo == nil && p.from < p.to && p.boot != ""
	}
	return p, ok && filepath.Base(shelf{}.path(p)) == name
}

// list finds the stored stretches of each boot, ascending. One that another one
// includes was about to be removed, and is now. What only looks like one is put
// away.
func (s shelf) list() (map[string][]stored, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("stored stretches: %w", err)
	}
	found := make(map[string][]stored)
	for _, e := range entries { // in the order of names: by from, then by to
		if strings.HasSuffix(e.Name(), temporarySuffix) {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // was never complete
		}
		p, ok := parseStoredName(e.Name())
		if !ok {
			continue
		}
		p.pinned = true
		info, err := e.Info()
		switch {
		case err != nil: // whoever reads it will tell
		case !info.Mode().IsRegular():
			if s.quarantine.take(s.path(p), errDamaged) == nil {
				continue
			}
		default:
			p.bytes = info.Size()
		}
		found[p.boot] = s.place(found[p.boot], p)
	}
	return found, nil
}

// place puts a stretch behind those before it. Of two that begin at the same
// offset the longer one is enough, if it can be read.
func (s shelf) place(before []stored, p stored) []stored {
	n := len(before)
	if n == 0 || before[n-1].from != p.from {
		return append(before, p)
	}
	if _, err := s.read(p); err != nil && s.quarantine.take(s.path(p), err) == nil {
		return before
	}
	_ = s.remove(before[n-1]) // does no harm while the other one is there
	return append(before[:n-1], p)
}

// put stores the bytes of a stretch. When it returns they survive the loss of
// power.
func (s shelf) put(p stored, stretch []byte) (stored, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return stored{}, fmt.Errorf("store stretch: %w", err)
	}
	b := binary.BigEndian.AppendUint32(slices.Clip(stretch), checksum(stretch))
	if err := writeDurably(s.path(p), b); err != nil {
		return stored{}, fmt.Errorf("store stretch: %w", err)
	}
	p.bytes = int64(len(b))
	return p, nil
}

// read returns the stretch that was put. The error wraps errDamaged if that is
// not what the file holds.
func (s shelf) read(p stored) (*click.Stretch, error) {
	b, err := os.ReadFile(s.path(p))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = errors.Join(errDamaged, err)
		}
		return nil, fmt.Errorf("read stretch: %w", err)
	}
	if len(b) < 4 || binary.BigEndian.Uint32(b[len(b)-4:]) != checksum(b[:len(b)-4]) {
		return nil, fmt.Errorf("%s: %w", s.path(p), errDamaged)
	}
	stretch, err := click.ParseStretch(b[:len(b)-4])
	if err != nil || stretch.Boot != p.boot || stretch.From != p.from || stretch.To != p.to {
		return nil, fmt.Errorf("%s: %w", s.path(p), errors.Join(errDamaged, err))
	}
	return stretch, nil
}

// remove takes a stretch off the shelf, for good: were the loss of power to
// bring it back, its bounds would be in the way of those that came after it.
func (s shelf) remove(p stored) error {
	if err := os.Remove(s.path(p)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove stretch: %w", err)
	}
	if err := syncFolder(s.dir); err != nil {
		return fmt.Errorf("remove stretch: %w", err)
	}
	return nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
