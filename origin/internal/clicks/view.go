package clicks

import (
	"cmp"
	"slices"

	"waypost/shared/click"
)

// View is one live view of a link. It holds sums and the newest clicks, not a
// queue: however slowly it is looked at, it takes the same memory and loses no
// count.
type View struct {
	views  *Views
	link   uint64
	viewer Viewer
	ended  chan struct{}
	moment Moment // guarded by views.mu
}

// Moment is what was applied between two looks at a view.
type Moment struct {
	Tally
	Newest []click.Recent // newest first, at most click.MaxNewest
}

func (m *Moment) add(a Applied) {
	m.Add(a.Tally)
	if len(a.Newest) == 0 {
		return
	}
	// Anew each time: views of one link are handed the same clicks.
	all := slices.Concat(m.Newest, a.Newest)
	slices.SortStableFunc(all, func(x, y click.Recent) int { return cmp.Compare(y.At, x.At) })
	m.Newest = all[:min(len(all), click.MaxNewest)]
}

// Ended is closed when the view gets nothing more, because the origin ends.
func (v *View) Ended() <-chan struct{} { return v.ended }

// Moment returns what was applied since the last call, or since Open.
func (v *View) Moment() Moment {
	v.views.mu.Lock()
	defer v.views.mu.Unlock()
	m := v.moment
	v.moment = Moment{}
	return m
}

// Close ends the view; it may be repeated.
func (v *View) Close() { v.views.close(v) }
