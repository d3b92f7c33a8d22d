package positions

import (
	"sync"
	"time"

	"waypost/bench/measure"
)

// Ages holds what was written to links and what visitors were answered, each write with its number, which the answers
// carry. Times are of one monotonic clock. Safe for concurrent use.
type Ages struct {
	mu     sync.Mutex
	writes map[string][]time.Time // of each link, by number from 0 on: when it was known to have happened
	reads  []read
}

type read struct {
	link    string
	n       int // of the write that it shows
	invoked time.Time
	marked  bool
}

// NewAges begins.
func NewAges() *Ages { return &Ages{writes: map[string][]time.Time{}} }

// Wrote records that a link's next write, the 0th at first, is known to have happened at a time.
func (a *Ages) Wrote(link string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes[link] = append(a.writes[link], at)
}

// Read records an answer that shows a link's n-th write.
func (a *Ages) Read(link string, n int, invoked time.Time, marked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads = append(a.reads, read{link: link, n: n, invoked: invoked, marked: marked})
}

// Unmarked is by how much each unmarked answer was out of date when it was asked for: for how long the first write that
// it does not have had been known to have happened. It is 0 for an answer that lacks none.
func (a *Ages) Unmarked() (ages measure.Sample, marked int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []time.Duration
	for _, r := range a.reads {
		if r.marked {
			marked++
			continue
		}
		var age time.Duration
		if writes := a.writes[r.link]; r.n+1 < len(writes) {
			age = max(r.invoked.Sub(writes[r.n+1]), 0)
		}
		all = append(all, age)
	}
	return measure.NewSample(all), marked
}
