package clicks

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"waypost/shared/click"
)

// MaxViews is how many live views one origin has open at a time: each is a
// connection that lasts.
const MaxViews = 100

// MaxViewsEach is how many of them one key, or the keys of one owner together,
// may have.
const MaxViewsEach = 20

// ErrCrowded refuses a live view where as many are open as may be.
var ErrCrowded = errors.New("too many live views are open")

// ErrShare refuses a live view to a key that has its share of them open, or whose
// owner has.
var ErrShare = errors.New("too many live views of one key or owner are open")

// ErrEnding refuses a live view because this origin is about to end.
var ErrEnding = errors.New("the service is ending")

// Views are the live views that are open at this origin. They hear of clicks as
// these are applied to the counters, and of none from before they were opened.
// All methods are safe for concurrent use and none but Run waits.
type Views struct {
	most    int
	changed chan struct{}

	mu     sync.Mutex // of the views' content too
	byLink map[uint64][]*View
	open   int
	by     map[Viewer]int // open ones of each key, and of each owner
	ended  bool
}

// Viewer is on whose behalf a live view is open.
type Viewer struct {
	Key   string // the API key's id
	Owner string // whom the key is confined to; "": nobody
}

// shares are what a view of this viewer counts against.
func (v Viewer) shares() []Viewer {
	if v.Owner == "" {
		return []Viewer{{Key: v.Key}}
	}
	return []Viewer{{Key: v.Key}, {Owner: v.Owner}}
}

// NewViews returns Views of which at most so many are open at a time. It starts
// no goroutine.
func NewViews(most int) *Views {
	return &Views{most: most, changed: make(chan struct{}, 1), byLink: make(map[uint64][]*View), by: make(map[Viewer]int)}
}

// Run ends all views, and refuses new ones, once ctx has ended, so that their
// clients look for another origin while this one finishes. It returns nil.
func (vs *Views) Run(ctx context.Context) error {
	<-ctx.Done()
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.ended = true
	for _, views := range vs.byLink {
		for _, v := range views {
			close(v.ended)
		}
	}
	return nil
}

// Open opens a view of the link with this id, which the caller closes. Errors:
// ErrCrowded, ErrShare, ErrEnding.
func (vs *Views) Open(link uint64, viewer Viewer) (*View, error) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	switch {
	case vs.ended:
		return nil, ErrEnding
	case vs.open >= vs.most:
		return nil, ErrCrowded
	case slices.ContainsFunc(viewer.shares(), func(v Viewer) bool { return vs.by[v] >= MaxViewsEach }):
		return nil, ErrShare
	}
	v := &View{views: vs, link: link, viewer: viewer, ended: make(chan struct{})}
	vs.count(v, 1)
	vs.byLink[link] = append(vs.byLink[link], v)
	if len(vs.byLink[link]) == 1 {
		vs.note()
	}
	return v, nil
}

// close takes a view out, the first time.
func (vs *Views) close(v *View) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	views := vs.byLink[v.link]
	i := slices.Index(views, v)
	if i < 0 {
		return
	}
	vs.count(v, -1)
	if len(views) == 1 {
		delete(vs.byLink, v.link)
		vs.note()
		return
	}
	vs.byLink[v.link] = slices.Delete(views, i, i+1)
}

// count counts a view that was opened (1) or closed (-1).
func (vs *Views) count(v *View, change int) {
	vs.open += change
	for _, share := range v.viewer.shares() {
		if vs.by[share] += change; vs.by[share] == 0 {
			delete(vs.by, share)
		}
	}
}

// note says that Watched has changed.
func (vs *Views) note() {
	select {
	case vs.changed <- struct{}{}:
	default: // it is said already
	}
}

// Changed has a value whenever Watched may have changed since the last one. It
// is for one reader.
func (vs *Views) Changed() <-chan struct{} { return vs.changed }

// Watched are the ids of the links that are viewed, ascending.
func (vs *Views) Watched() []uint64 {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return slices.Sorted(maps.Keys(vs.byLink))
}

// Len is the number of open views.
func (vs *Views) Len() int {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.open
}

// Take shows clicks of one link to those who view it.
func (vs *Views) Take(a Applied) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.take(a)
}

// TakeStretch shows what a stretch brought. It keeps parts of it, which must not
// be modified any more.
func (vs *Views) TakeStretch(s *click.Stretch) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for link := range vs.byLink {
		if a, ok := AppliedTo(s, link); ok {
			vs.take(a)
		}
	}
}

func (vs *Views) take(a Applied) {
	for _, v := range vs.byLink[a.Link] {
		v.moment.add(a)
	}
}
