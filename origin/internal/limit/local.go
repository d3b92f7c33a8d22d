package limit

import "sync"

// local is the buckets of this origin alone, for when Redis does not answer. Its
// table is bounded: when it is full, buckets that are full are dropped, which
// changes nothing, and else any one of them, which then is full again. Safe for
// concurrent use.
type local struct {
	most int // buckets, of some 100 bytes each

	mu    sync.Mutex
	full  map[string]int64 // when the bucket of a key is full, in µs of the limiter's clock
	swept int64            // when makeRoom last looked at all of them
}

func newLocal(most int) *local {
	return &local{most: most, full: make(map[string]int64)}
}

func (l *local) take(key string, b bucket, now, asked int64) (given, left int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full, known := l.full[key]
	if !known {
		l.makeRoom(now)
	}
	after, given, left := b.take(full, now, asked)
	l.full[key] = after
	return given, left
}

// makeRoom looks at the whole table once a second at most, so that many keys do
// not pay for it with every call.
func (l *local) makeRoom(now int64) {
	if len(l.full) < l.most {
		return
	}
	const second = 1_000_000
	if now-l.swept >= second {
		l.swept = now
		for key, full := range l.full {
			if full <= now {
				delete(l.full, key)
			}
		}
	}
	for key := range l.full {
		if len(l.full) < l.most {
			return
		}
		delete(l.full, key)
	}
}
