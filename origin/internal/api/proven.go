package api

import (
	"crypto/sha256"
	"sync"
	"time"
)

// provenFor is how long a key counts as found valid.
const provenFor = time.Minute

// proven remembers, by their hashes, which keys were found valid a moment ago.
// That spares their holders from what others do at their address, and is used
// for nothing else: every call looks its key up, so that a revocation holds at
// once. Its table is bounded: when it is full, what is over a minute old goes,
// or else any one. It is safe for concurrent use.
type proven struct {
	now  func() time.Time
	most int // keys

	mu   sync.Mutex
	seen map[[sha256.Size]byte]time.Time
}

func newProven(most int, now func() time.Time) *proven {
	return &proven{now: now, most: most, seen: make(map[[sha256.Size]byte]time.Time)}
}

// recent reports whether the key was found valid within the last minute, and
// not found invalid since.
func (p *proven) recent(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.seen[sha256.Sum256([]byte(text))]
	return ok && p.now().Sub(at) < provenFor
}

// note keeps what became of a key that was looked up.
func (p *proven) note(text string, valid bool) {
	hash := sha256.Sum256([]byte(text))
	p.mu.Lock()
	defer p.mu.Unlock()
	if !valid {
		delete(p.seen, hash)
		return
	}
	if _, known := p.seen[hash]; !known {
		p.makeRoom()
	}
	p.seen[hash] = p.now()
}

func (p *proven) makeRoom() {
	if len(p.seen) < p.most {
		return
	}
	for hash, at := range p.seen {
		if p.now().Sub(at) >= provenFor {
			delete(p.seen, hash)
		}
	}
	for hash := range p.seen {
		if len(p.seen) < p.most {
			return
		}
		delete(p.seen, hash)
	}
}
