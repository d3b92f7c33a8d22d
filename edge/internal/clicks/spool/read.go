package spool

import (
	"errors"
	"io/fs"
	"sort"
)

// Read calls each for the whole frames from offset from on, which is Start or
// where an earlier Read ended, until they are most bytes or one frame more, or
// the log ends. to is where the next Read goes on. The payload is valid during
// the call; an error of each ends Read with to at that frame.
//
// What cannot be read is passed over: a damaged frame takes the rest of its
// segment with it (a frame that follows could be one that a visitor has put
// together), a missing segment itself. Stats counts both. So to moves whenever
// from is before End and err is nil; an err is of each, or of a file that may be
// readable later.
func (l *Log) Read(from uint64, most int, each func(at uint64, payload []byte) error) (to uint64, err error) {
	end, enough := l.End(), from+uint64(max(most, 1))
	for to = from; to < end && to < enough; {
		base, limit, ok := l.segmentAt(to, end)
		if !ok { // the first one is gone
			l.pass(base, to, limit)
			to = limit
			continue
		}
		to, err = walkFile(l.path(base), l.boot, extent{base, to, limit, enough}, each)
		switch {
		case err == nil:
		case damaged(err), errors.Is(err, fs.ErrNotExist):
			l.pass(base, to, limit)
			to = limit
		default:
			return to, err
		}
	}
	return to, nil
}

// segmentAt finds the segment that holds an offset before end, and where it
// ends. Not ok: none does, and what is held begins at limit.
func (l *Log) segmentAt(at, end uint64) (base, limit uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].base > at })
	limit = end
	if i < len(l.segments) {
		limit = min(limit, l.segments[i].base)
	}
	if i == 0 {
		return 0, limit, false
	}
	return l.segments[i-1].base, limit, true
}

// pass counts bytes that are passed over, once for each segment.
func (l *Log) pass(base, from, to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.segments {
		s := &l.segments[i]
		if s.base == base {
			if s.damaged {
				return
			}
			s.damaged = true
		}
	}
	l.counts.damaged.Add(1)
	l.counts.passed.Add(to - from)
}
