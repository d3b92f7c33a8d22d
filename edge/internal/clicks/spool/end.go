package spool

import (
	"errors"
	"io/fs"
	"math"
)

// End is the offset after the last whole frame. For an older log the first call
// reads its last segment to find it: that is where a torn tail is cut off.
func (l *Log) End() uint64 {
	if l.ring != nil {
		return l.ring.written.Load()
	}
	l.scan.Lock()
	defer l.scan.Unlock()
	l.mu.Lock()
	if l.scanned || len(l.segments) == 0 {
		defer l.mu.Unlock()
		return l.end
	}
	last := l.segments[len(l.segments)-1]
	l.mu.Unlock()

	all := extent{base: last.base, from: last.base, limit: math.MaxUint64, enough: math.MaxUint64}
	end, err := walkFile(l.path(last.base), l.boot, all, nil)
	if !damaged(err) && !errors.Is(err, fs.ErrNotExist) {
		return last.base // it may be readable next time
	}
	if torn := errors.Is(err, errTorn); !torn && last.bytes > 0 {
		l.pass(last.base, end, last.base+uint64(last.bytes))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end, l.scanned = end, true
	return end
}
