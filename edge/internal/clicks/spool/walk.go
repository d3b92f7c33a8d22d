package spool

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// chunk is how much of a segment is read at a time, in bytes; the largest frame
// fits well.
const chunk = 4 * MaxPayload

// extent is a part of a segment, in offsets of the log: its frames from one on
// that ends at or before limit, until one begins at or after enough.
type extent struct{ base, from, limit, enough uint64 }

// walkFile is walk over the file of a segment, which must be of that boot.
func walkFile(path, boot string, e extent, each func(at uint64, payload []byte) error) (to uint64, err error) {
	f, err := os.Open(path) //nolint:gosec // the path is made of the configured folder and numbers
	if err != nil {
		return e.from, err
	}
	defer f.Close() //nolint:errcheck // only read
	if to, err = walk(f, boot, e, each); damaged(err) {
		err = fmt.Errorf("%s at %d: %w", path, to, err)
	}
	return to, err
}

// walk calls each (unless nil) for the frames of a part of a segment. to is where
// the first frame begins that it has not passed. The error is errTorn if the
// segment ends before the limit, errDamaged or errHeader if it holds anything
// else than frames, else one of each or of the disk.
func walk(r io.ReaderAt, boot string, e extent, each func(at uint64, payload []byte) error) (to uint64, err error) {
	h, err := headerOf(r, boot, e.base)
	if err != nil {
		return e.from, err
	}
	var (
		buf  = make([]byte, chunk)
		held []byte // read and not passed yet
		next = int64(h.size) + distance(e.base, e.from)
	)
	for to = e.from; to < e.limit && to < e.enough; {
		payload, n, err := parseFrame(held)
		if errors.Is(err, errTorn) {
			kept := copy(buf, held)
			got, readErr := r.ReadAt(buf[kept:], next)
			if got == 0 {
				return to, endOf(readErr)
			}
			next += int64(got)
			held = buf[:kept+got]
			continue
		}
		if err != nil {
			return to, err
		}
		if n > e.limit-to {
			return to, errDamaged
		}
		if each != nil {
			if err := each(to, payload); err != nil {
				return to, err
			}
		}
		to += n
		held = held[n:]
	}
	return to, nil
}

// endOf says what it means that no more can be read. A sector that the disk
// cannot read will not come back.
func endOf(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errTorn
	case errors.Is(err, unix.EIO):
		return errDamaged
	default:
		return err
	}
}

// headerOf reads the header of a segment that must be of that boot and base.
func headerOf(r io.ReaderAt, boot string, base uint64) (header, error) {
	var b [maxHeader]byte
	n, err := r.ReadAt(b[:], 0)
	if n == 0 && !errors.Is(err, io.EOF) {
		return header{}, endOf(err)
	}
	h, err := parseHeader(b[:n])
	if err == nil && (h.boot != boot || h.base != base) {
		err = errHeader
	}
	return h, err
}

// readLabel reads the label out of the header of a segment's file.
func readLabel(path, boot string, base uint64) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the path is made of the configured folder and numbers
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h, err := headerOf(f, boot, base)
	return h.label, err
}

// damaged tells what will never be readable from an error that may pass.
func damaged(err error) bool {
	return errors.Is(err, errTorn) || errors.Is(err, errDamaged) || errors.Is(err, errHeader)
}
