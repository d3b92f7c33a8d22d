package load

// ring is a queue of at most as many numbers as it was made for.
type ring struct {
	slots   []int
	head, n int // where the first one is, and how many there are
}

func newRing(most int) *ring { return &ring{slots: make([]int, most)} }

// push adds a number at the end. There must be room.
func (r *ring) push(v int) {
	r.slots[(r.head+r.n)%len(r.slots)] = v
	r.n++
}

// pop takes the first number. There must be one.
func (r *ring) pop() int {
	v := r.slots[r.head]
	r.head = (r.head + 1) % len(r.slots)
	r.n--
	return v
}
