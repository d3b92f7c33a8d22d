package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what a loop got.
type Result struct {
	Answers int // all as they had to be
	Bytes   int // of all answers, heads and bodies
	Took    time.Duration
	Busy    time.Duration // of the generator's thread: what it used of its core
	Classes []Class       // in the plan's order; only an open loop fills their times
	Late    *Times        // by how much requests of an open loop went out after their time
}

// Class is a kind of answers and their times.
type Class struct {
	Name  string
	Times *Times
}

// Times are those of all classes together.
func (r Result) Times() *Times {
	all := newTimes()
	for _, c := range r.Classes {
		all.h.Merge(c.Times.h)
	}
	return all
}

// PerSecond are the answers in a second.
func (r Result) PerSecond() float64 { return float64(r.Answers) / r.Took.Seconds() }

// Share is what the generator took of its core, from 0 to 1. Near 1 it was the generator that was measured.
func (r Result) Share() float64 { return r.Busy.Seconds() / r.Took.Seconds() }

// Times are measured times of up to a minute, kept to three digits. Not safe for concurrent use.
type Times struct{ h *hdrhistogram.Histogram }

// longest is the longest time that Times tell from longer ones.
const longest = time.Minute

func newTimes() *Times { return &Times{hdrhistogram.New(1, int64(longest), 3)} }

// add keeps a time.
func (t *Times) add(d time.Duration) {
	_ = t.h.RecordValue(int64(min(max(d, 0), longest))) // refuses only what is out of these bounds
}

// N counts the times.
func (t *Times) N() int64 { return t.h.TotalCount() }

// Quantile is the least of the times that a share q of them, from 0 to 1, does not exceed; 0 of none.
func (t *Times) Quantile(q float64) time.Duration {
	return time.Duration(t.h.ValueAtQuantile(100 * q))
}

// Max is the longest time; 0 of none.
func (t *Times) Max() time.Duration { return time.Duration(t.h.Max()) }
