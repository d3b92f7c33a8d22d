package dial

import (
	"sync/atomic"
	"time"
)

const (
	// watchFor is how long an answer is watched for: about as long as it takes to
	// be put to sleep and woken on an idle machine, and longer than Redis takes in
	// the same room.
	watchFor = 80 * time.Microsecond
	// watchEvery is between the beginnings of two watches: they take a tenth of a
	// core at most.
	watchEvery = 10 * watchFor
	// maxMissed bounds how often in a row watchEvery is doubled: where answers take
	// longer, one is watched for every 51 ms.
	maxMissed = 6
)

// watch says which of a dialer's connections may look for an answer again and
// again for a while before it waits for one. That pays where questions are few:
// whoever waits then sleeps, and to be woken costs as much as the answer itself.
// Where they are many, somebody else has something to do meanwhile. Safe for
// concurrent use.
type watch struct {
	born   time.Time
	next   atomic.Int64 // since born: when the next one may begin
	missed atomic.Int32 // watches in a row in which no answer came
}

func newWatch() *watch { return &watch{born: time.Now()} }

// begin is until when to watch, for who has asked something; zero: not at all.
func (w *watch) begin(now time.Time) (until time.Time) {
	at, next := int64(now.Sub(w.born)), w.next.Load()
	if at < next || !w.next.CompareAndSwap(next, at+int64(watchEvery<<w.missed.Load())) {
		return time.Time{}
	}
	return now.Add(watchFor)
}

// end says whether the answer came in time.
func (w *watch) end(came bool) {
	if came {
		w.missed.Store(0)
		return
	}
	if missed := w.missed.Load(); missed < maxMissed {
		w.missed.Store(missed + 1) // two at once may count as one
	}
}
