package postgres

import (
	"crypto/sha256"

	"waypost/shared/link"
)

// apart tells jobs that can be in one transaction from those that must wait for
// it, because they are about the same: a key, a link to reuse, or the same item
// of a call that is carried out once. The zero value has met none.
type apart struct {
	keys   map[link.Key]bool
	reused map[criteria]bool
	calls  map[call]bool
}

type call struct {
	name [sha256.Size]byte
	item int
}

// add reports whether a job is about nothing that one added before is about, and
// adds it if so.
func (a *apart) add(j *job) bool {
	if a.keys == nil {
		*a = apart{keys: make(map[link.Key]bool), reused: make(map[criteria]bool), calls: make(map[call]bool)}
	}
	var c call
	if j.m != nil && j.m.Once != nil {
		c = call{name: j.m.Once.Call, item: j.m.Once.Item}
	}
	if a.keys[j.key] || j.reuse != nil && a.reused[*j.reuse] || a.calls[c] {
		return false
	}
	a.keys[j.key] = true
	if j.reuse != nil {
		a.reused[*j.reuse] = true
	}
	if c != (call{}) {
		a.calls[c] = true
	}
	return true
}
