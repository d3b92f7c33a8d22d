package visitor

import (
	"hash/maphash"
	"math/rand/v2"
	"sync/atomic"
)

// ways is in how many places a key may stand: a line of a processor's cache. Busy
// agents that share fewer places than they are push each other out all the time, and
// to read one again takes longer than a redirect: with four places, 4,096 in all, that
// would be two in a hundred of the requests of a thousand agents.
const ways = 8

// memo remembers what was made of the last keys, which are clipped bytes of
// requests. Its size is fixed; what it has forgotten is made anew. A key that is
// held costs no lock and no allocation. Safe for concurrent use.
//
// A key is known by its hash under a seed that is drawn at the start: of a
// million keys two have the same one by a chance of 1 in 37 million. The keys
// themselves would be most of the memory that a look-up touches.
type memo[T any] struct {
	seed  maphash.Seed // nobody can choose keys that share their places, or their hash
	of    func(key string) T
	slots []atomic.Pointer[remembered[T]]
}

type remembered[T any] struct {
	hash  uint64
	value T
}

// newMemo makes a memo of at most size keys, a power of two and at least ways.
// of must give the same value for the same key.
func newMemo[T any](size int, of func(key string) T) memo[T] {
	return memo[T]{seed: maphash.MakeSeed(), of: of, slots: make([]atomic.Pointer[remembered[T]], size)}
}

// get is the value of a key, which is not kept.
func (m *memo[T]) get(key []byte) T {
	hash := maphash.Bytes(m.seed, key)
	first := int(hash) & (len(m.slots) - 1) &^ (ways - 1) //nolint:gosec // any bits will do
	places := m.slots[first : first+ways]
	for i := range places {
		if r := places[i].Load(); r != nil && r.hash == hash {
			return r.value
		}
	}
	return remember(places, hash, m.of(string(key)))
}

// remember puts a value where nothing is, which is looked at in this order, or in
// place of one that is forgotten.
func remember[T any](places []atomic.Pointer[remembered[T]], hash uint64, value T) T {
	made := &remembered[T]{hash, value}
	for i := range places {
		if places[i].CompareAndSwap(nil, made) {
			return value
		}
	}
	places[rand.IntN(len(places))].Store(made) //nolint:gosec // which one is forgotten decides nothing
	return value
}
