package chaos

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"
)

// The checks. C0 guards the others: a read of what was never written is judged by nothing else.
const (
	C0 = "C0" // no read of what was never written
	C1 = "C1" // no unmarked read older than a write acknowledged more than B before it was invoked
	C2 = "C2" // no read backwards on one edge within one boot, and across boots for unmarked reads
	C3 = "C3" // after ack=edges no unmarked old read anywhere, and for strict links none at all
	C4 = "C4" // no 404 for a live link that was acknowledged more than B, or by ack=edges, before
	C5 = "C5" // outside faults at least 99.9 % of reads are unmarked
)

// Checks are all of them in order.
func Checks() []string { return []string{C0, C1, C2, C3, C4, C5} }

// leastUnmarked is C5's share of reads.
const leastUnmarked = 0.999

// Violation is one read that must not have been; of C5, which is about all reads, it has no read and no key.
type Violation struct {
	Check string
	Key   string
	Read  Read
	Why   string
}

func (v Violation) String() string {
	if v.Key == "" {
		return v.Check + ": " + v.Why
	}
	return fmt.Sprintf("%s: %s: %s: %s", v.Check, v.Key, v.Read, v.Why)
}

// Check judges a history that has ended, with the bound B.
func Check(h *History, bound time.Duration) (found []Violation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(h.reads)) {
		story := newStory(h.writes[key], h.reads[key])
		found = append(found, story.old(bound)...)
		found = append(found, story.backwards()...)
	}
	if share := h.share(); share.all > 0 && share.value() < leastUnmarked {
		found = append(found, Violation{Check: C5, Why: share.why(h.faults)})
	}
	return found
}

// story is the history of one key.
type story struct {
	writes []*Write        // by N; the first one is that there never was a link
	shown  map[Sight][]int // indices of writes, ascending
	reads  []Read          // that tell something, by the time of their answer

	known, edges []floor
}

// floor says that from some time on a write is known to have happened.
type floor struct {
	at time.Duration
	i  int // the newest known by then
}

func newStory(writes []*Write, reads []Read) *story {
	never := &Write{Kind: "never made", Shows: absent(), Known: true, Edges: true, Invoked: -1, Answered: -1}
	s := &story{writes: append([]*Write{never}, writes...), shown: map[Sight][]int{}}
	for i, w := range s.writes {
		s.shown[w.Shows] = append(s.shown[w.Shows], i)
		if w.Known {
			s.known = append(s.known, floor{w.Answered, i})
			if w.Edges {
				s.edges = append(s.edges, floor{w.Answered, i})
			}
		}
	}
	rising(s.known)
	rising(s.edges)
	for _, r := range reads {
		if r.tells() {
			s.reads = append(s.reads, r)
		}
	}
	slices.SortStableFunc(s.reads, func(a, b Read) int { return cmp.Compare(a.Answered, b.Answered) })
	return s
}

// rising sorts by time and lets every floor include those before it.
func rising(floors []floor) {
	slices.SortStableFunc(floors, func(a, b floor) int { return cmp.Compare(a.at, b.at) })
	for n := 1; n < len(floors); n++ {
		floors[n].i = max(floors[n].i, floors[n-1].i)
	}
}

// before is the newest write that was known before a time; 0 if none was.
func before(floors []floor, at time.Duration) int {
	n := sort.Search(len(floors), func(n int) bool { return floors[n].at >= at })
	if n == 0 {
		return 0
	}
	return floors[n-1].i
}

// newest is the last write that a read may be of, or -1 if there is none: a sight that several writes have in common
// (404, 410) is taken for the newest of them that had begun.
func (s *story) newest(r Read) int {
	may := s.shown[r.Sight]
	n := sort.Search(len(may), func(n int) bool { return s.writes[may[n]].Invoked >= r.Answered })
	if n == 0 {
		return -1
	}
	return may[n-1]
}

// oldest is the first write from a given one on that a read may be of, or -1.
func (s *story) oldest(r Read, from int) int {
	may := s.shown[r.Sight]
	n := sort.SearchInts(may, from)
	if n == len(may) || s.writes[may[n]].Invoked >= r.Answered {
		return -1
	}
	return may[n]
}

// old finds the violations of C0, C1, C3 and C4.
func (s *story) old(bound time.Duration) (found []Violation) {
	for _, r := range s.reads {
		report := func(check string, than int) {
			found = append(found, Violation{Check: check, Key: r.Key, Read: r, Why: "older than " + s.writes[than].String()})
		}
		newest := s.newest(r)
		if newest < 0 {
			found = append(found, Violation{Check: C0, Key: r.Key, Read: r, Why: "nobody wrote that before"})
			continue
		}
		late := before(s.known, r.Invoked-bound)
		if !r.Marked && newest < late {
			report(C1, late)
		}
		told := before(s.edges, r.Invoked)
		if newest < told && (!r.Marked || s.writes[told].Strict) {
			report(C3, told)
		}
		if since := max(late, told); r.Sight == absent() && newest < since {
			report(C4, since)
		}
	}
	return found
}
