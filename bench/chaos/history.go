package chaos

import (
	"net/http"
	"sync"
	"time"
)

// Sight is what a visitor sees of a link: the status and, of a redirect, the version that its target carries.
type Sight struct {
	Status  int
	Version int // 0 where nothing carries one; alien for a target that is none of this link's
}

// alien is the version of a target that nobody ever gave to the link.
const alien = -1

// absent is the sight of a link that is not there.
func absent() Sight { return Sight{Status: http.StatusNotFound} }

// Read is one answer of an edge. Times are since the start of the history, by one monotonic clock.
type Read struct {
	Edge              int
	Boot              int // counts the starts of the edge
	Key               string
	Invoked, Answered time.Duration
	Sight
	Marked bool // said to be stale
}

// tells is whether the answer says anything of the link: a 503 says that the edge does not know.
func (r Read) tells() bool {
	return r.Status/100 == 3 || r.Status == http.StatusNotFound || r.Status == http.StatusGone
}

// Write is one change of a link. The writes of one key never overlap, and a later one never takes effect before an
// earlier one does: N is their order.
type Write struct {
	Key     string
	N       int // from 1 on
	Kind    string
	Shows   Sight // of the link from then on
	Strict  bool  // the link's class: strict, else available
	Invoked time.Duration

	// Answered is when the write was known to have happened; Known is false while it may have happened or not.
	Answered time.Duration
	Known    bool

	Given   bool // nobody wrote it here: so the link was at the start, or it came by the clock
	Edges   bool // it waited for the edges, and was answered after that
	Members int  // edges at the time, as the answer says
	Acked   int  // those of them that were known to have it
}

// Fault is a time in which C5 does not count.
type Fault struct {
	Name        string
	From, Until time.Duration
}

// History is all that happened. Its methods are safe for concurrent use.
type History struct {
	start time.Time

	mu     sync.Mutex
	reads  map[string][]Read
	writes map[string][]*Write // by N, ascending
	faults []Fault
	lost   int
}

// NewHistory begins now.
func NewHistory() *History {
	return &History{start: time.Now(), reads: map[string][]Read{}, writes: map[string][]*Write{}}
}

// Passing records what time alone does to a link, at an instant by PostgreSQL's clock, which is this machine's: around
// it, for as long as an edge's estimate of that clock may be off, both sides of it are right, and after that one alone.
func (h *History) Passing(w Write, instant time.Time, off time.Duration) {
	at := instant.Sub(h.start)
	w.Invoked, w.Answered, w.Given, w.Known, w.Edges = at-off, at+off, true, true, true
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes[w.Key] = append(h.writes[w.Key], &w)
}

// Now is the time since the start.
func (h *History) Now() time.Duration { return time.Since(h.start) }

// Read records an answer.
func (h *History) Read(r Read) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads[r.Key] = append(h.reads[r.Key], r)
}

// Lost records a read that was never answered.
func (h *History) Lost() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost++
}

// Write records that a write begins. What becomes of it is told to Happened or Refused; told nothing, it may have
// happened or not.
func (h *History) Write(w Write) *Write {
	h.mu.Lock()
	defer h.mu.Unlock()
	begun := &w
	h.writes[w.Key] = append(h.writes[w.Key], begun)
	return begun
}

// Happened records that a write is known to have happened, and what its answer said.
func (h *History) Happened(w *Write, edges bool, members, acked int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Answered, w.Known, w.Edges, w.Members, w.Acked = time.Since(h.start), true, edges, members, acked
}

// Refused takes the key's last write back: it has not happened, and never will.
func (h *History) Refused(w *Write) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.writes[w.Key]
	if n := len(all); n > 0 && all[n-1] == w {
		h.writes[w.Key] = all[:n-1]
	}
}

// Fault records a time in which edges may be unable to know the newest state.
func (h *History) Fault(f Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = append(h.faults, f)
}
