package feed

import "sync/atomic"

// View is what one request loaded of its key's shard: the epoch and the
// floors. A request judges everything it meets by the one view it loaded
// before it looked, or asked, anywhere.
type View struct {
	Epoch   uint64
	base    uint64
	changed uint64
	created uint64
	floor   *atomic.Uint64 // changed[slot], for Accept
}

// View loads the state of the key with this hash. ok is false before the
// shard's first Reset: then nothing can be judged.
func (t *Table) View(hash uint64) (v View, ok bool) {
	s := t.shard[Shard(hash)].Load()
	if s == nil {
		return View{}, false
	}
	slot := t.slot(hash)
	floor := &s.changed[slot]
	return View{
		Epoch:   s.epoch,
		base:    s.base.Load(),
		changed: floor.Load(),
		created: s.created[slot].Load(),
		floor:   floor,
	}, true
}

// Fresh is the one rule: whether e may be served. An absent entry, a
// tombstone among them, is refuted by a create as well.
func (v *View) Fresh(e *Entry) bool {
	if e.Epoch != v.Epoch {
		return false
	}
	bar := max(v.base, v.changed)
	if e.State == Absent {
		bar = max(bar, v.created)
	}
	return bar <= e.AsOf
}

// MinSeq is the position that a fill must have reached: the highest of the
// floors, since the kind of the answer is not known yet.
func (v *View) MinSeq() uint64 { return max(v.base, v.changed, v.created) }

// Accept is Fresh for an entry that comes from beyond L1. An accepted entry's
// version raises the key's floor before the caller stores or serves it, so
// that no later request on this edge is answered with an older one.
func (v *View) Accept(e *Entry) bool {
	if !v.Fresh(e) {
		return false
	}
	raise(v.floor, e.Version)
	return true
}
