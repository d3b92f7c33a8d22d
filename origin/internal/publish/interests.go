package publish

import (
	"sync"
	"time"
)

const (
	interestLasts = 3 * time.Second // after it was announced
	maxWatchers   = 64              // origins that are remembered at a time; others' views stay at zero
)

// interests are the links that other origins have in view. The zero value is
// empty. It is safe for concurrent use.
type interests struct {
	mu sync.Mutex
	by map[string]interest // by the name of the origin
}

type interest struct {
	links []uint64
	until time.Time
}

// note replaces what an origin has in view.
func (in *interests) note(origin string, links []uint64, now time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.expire(now)
	if len(links) == 0 {
		delete(in.by, origin)
		return
	}
	if _, known := in.by[origin]; !known && len(in.by) >= maxWatchers {
		return
	}
	if in.by == nil {
		in.by = make(map[string]interest)
	}
	in.by[origin] = interest{links: links, until: now.Add(interestLasts)}
}

// each calls do for every origin and link of its interest. do must not wait.
func (in *interests) each(now time.Time, do func(origin string, link uint64)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.expire(now)
	for origin, i := range in.by {
		for _, link := range i.links {
			do(origin, link)
		}
	}
}

func (in *interests) expire(now time.Time) {
	for origin, i := range in.by {
		if !now.Before(i.until) {
			delete(in.by, origin)
		}
	}
}
