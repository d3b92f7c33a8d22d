package spool

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrInUse is that another process has the folder.
var ErrInUse = errors.New("spool folder is in use by another edge")

// lockFolder takes the folder until the file is closed or the process ends. The
// folder itself is locked: a lock file could not be made on a full disk.
func lockFolder(path string) (*os.File, error) {
	dir, err := os.Open(path) //nolint:gosec // the configured folder
	if err != nil {
		return nil, fmt.Errorf("spool folder: %w", err)
	}
	if err = unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = dir.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, path)
		}
		return nil, fmt.Errorf("lock spool folder %s: %w", path, err)
	}
	return dir, nil
}

// unlockFolder gives it back. Closing the file is not enough: a child that is
// being forked this moment has it open until its exec.
func unlockFolder(dir *os.File) error {
	err := unix.Flock(int(dir.Fd()), unix.LOCK_UN)
	return errors.Join(err, dir.Close())
}

// A boot, which is the name of its log's folder, is the time of the start, so
// that names sort by age, and 64 random bits, so that no two are the same.
const bootTime = "20060102T150405.000Z"

func newBoot(now time.Time) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return now.UTC().Format(bootTime) + "-" + hex.EncodeToString(b[:])
}

func isBoot(name string) bool {
	if len(name) != len(bootTime)+1+16 || name[len(bootTime)] != '-' {
		return false
	}
	_, notTime := time.Parse(bootTime, name[:len(bootTime)])
	_, notHex := strconv.ParseUint(name[len(bootTime)+1:], 16, 64)
	return notTime == nil && notHex == nil
}

const segmentSuffix = ".clicks"

// segmentName is the name of the file of a segment: its base, 16 hex digits.
func segmentName(base uint64) string { return fmt.Sprintf("%016x", base) + segmentSuffix }

func parseSegmentName(name string) (base uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	base, err := strconv.ParseUint(digits, 16, 64)
	return base, err == nil && segmentName(base) == name
}

// findLogs lists the logs in a folder, oldest first. It passes over all that is
// not named as they are, and removes folders that are empty.
func findLogs(dir string, counts *counts) ([]*Log, error) {
	names, err := os.ReadDir(dir) // in the order of names
	if err != nil {
		return nil, fmt.Errorf("spool folder: %w", err)
	}
	var logs []*Log
	for _, name := range names {
		if !name.IsDir() || !isBoot(name.Name()) {
			continue
		}
		l := &Log{dir: filepath.Join(dir, name.Name()), boot: name.Name(), counts: counts}
		if err := l.find(); err != nil {
			return nil, err
		}
		if len(l.segments) == 0 {
			_ = os.Remove(l.dir) // fails if there is anything in it
			continue
		}
		logs = append(logs, l)
	}
	return logs, nil
}
