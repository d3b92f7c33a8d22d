package feed

import "sync/atomic"

// View is what one request loaded of its key's shard: lease, epoch and floors.
// A request judges everything it meets by the one view it loaded before it
// looked, or asked, anywhere.
type View struct {
	Lease   Instant // the older one of the key's shard and the config shard
	Epoch   uint64
	state   *state
	base    uint64
	changed uint64
	created uint64
	floor   *atomic.Uint64 // changed[slot], for Accept
}

// View loads the state of the key with this hash. ok is false before the
// shard's first state: then nothing can be judged.
func (t *Table) View(hash uint64) (v View, ok bool) {
	n, slot := Shard(hash), t.slot(hash)
	v.loadLease(t, n)
	if !v.loadState(t, n) {
		return View{}, false
	}
	v.loadBase()
	v.loadChanged(slot)
	v.loadCreated(slot)
	return v, true
}

// The single loads of a reader, in their order. The lease comes first: what it
// vouches for was applied before it was stored, so it is in what is loaded
// after.
func (v *View) loadLease(t *Table, n int) { v.Lease = min(t.Lease(ConfigShard), t.Lease(n)) }

func (v *View) loadState(t *Table, n int) bool {
	v.state = t.shard[n].state.Load()
	if v.state == nil {
		return false
	}
	v.Epoch = v.state.epoch
	return true
}

func (v *View) loadBase() { v.base = v.state.base.Load() }

func (v *View) loadChanged(slot uint64) {
	v.floor = &v.state.slots[slot].changed
	v.changed = v.floor.Load()
}

func (v *View) loadCreated(slot uint64) { v.created = v.state.slots[slot].created.Load() }

// Fresh is the one rule: whether e may be served as up to date while the lease
// lasts. An absent entry, a tombstone among them, is refuted by a create as
// well.
func (v *View) Fresh(e *Entry) bool { return v.Known(e) && v.base <= e.AsOf }

// Known is the rule without base: e is not known to be changed. It is what an
// edge without a lease may serve, marked as stale.
func (v *View) Known(e *Entry) bool {
	bar := v.changed
	if e.State == Absent {
		bar = max(bar, v.created)
	}
	return e.Epoch == v.Epoch && bar <= e.AsOf
}

// MinSeq is the position that a fill must have reached: the highest of the
// floors, since the kind of the answer is not known yet. Of an adopted epoch no
// position is known that it would have to reach.
func (v *View) MinSeq() uint64 {
	if v.base == unknown {
		return max(v.changed, v.created)
	}
	return max(v.base, v.changed, v.created)
}

// Accept is Fresh for an entry that comes from beyond L1. An accepted entry's
// version raises the key's floor before the caller stores or serves it, so
// that no later request on this edge is answered with an older one.
func (v *View) Accept(e *Entry) bool { return v.Fresh(e) && v.taken(e) }

// AcceptKnown is Known for an entry that comes from beyond L1.
func (v *View) AcceptKnown(e *Entry) bool { return v.Known(e) && v.taken(e) }

func (v *View) taken(e *Entry) bool {
	raise(v.floor, e.Version)
	return true
}
