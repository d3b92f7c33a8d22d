package chaos

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Sum counts a history.
type Sum struct {
	Reads    int `json:"reads"`
	Marked   int `json:"marked"`
	Refused  int `json:"refused"` // 503
	Lost     int `json:"lost"`    // reads that were never answered
	Outside  int `json:"outside"` // reads outside faults
	Unmarked int `json:"unmarked"`
	Keys     int `json:"keys"` // links written
	Writes   int `json:"writes"`
	Pairs    int `json:"pairs"`   // a read and a write of one link that were under way at the same time
	Unknown  int `json:"unknown"` // writes that may have happened or not
	Waited   int `json:"waited"`  // writes answered after ack=edges
	Silent   int `json:"silent"`  // those of them that not every edge acknowledged
}

// Sum counts what has been recorded so far.
func (h *History) Sum() (s Sum) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, reads := range h.reads {
		s.Reads += len(reads)
		for _, r := range reads {
			switch {
			case r.Marked:
				s.Marked++
			case !r.tells():
				s.Refused++
			}
		}
	}
	s.Keys = len(h.writes)
	for key, writes := range h.writes {
		for _, w := range writes {
			s.count(w)
		}
		s.Pairs += pairs(writes, h.reads[key])
	}
	s.Lost = h.lost
	outside := h.share()
	s.Outside, s.Unmarked = outside.all, outside.unmarked
	return s
}

func (s *Sum) count(w *Write) {
	if w.Given {
		return
	}
	s.Writes++
	switch {
	case !w.Known:
		s.Unknown++
	case w.Edges:
		s.Waited++
		if w.Acked < w.Members {
			s.Silent++
		}
	}
}

// pairs counts the reads of each write that were under way while it was. What became of a write without an answer was
// open until the next one began, which is when it counts as over.
func pairs(writes []*Write, reads []Read) (n int) {
	invoked, answered := make([]time.Duration, len(reads)), make([]time.Duration, len(reads))
	for i, r := range reads {
		invoked[i], answered[i] = r.Invoked, r.Answered
	}
	slices.Sort(invoked)
	slices.Sort(answered)
	for i, w := range writes {
		until := w.Answered
		if !w.Known {
			until = w.Invoked
			if i+1 < len(writes) {
				until = writes[i+1].Invoked
			}
		}
		// Those that had begun by its end, but for those that were over before it began.
		begun := sort.Search(len(invoked), func(n int) bool { return invoked[n] > until })
		over := sort.Search(len(answered), func(n int) bool { return answered[n] >= w.Invoked })
		n += begun - over
	}
	return n
}

// plus adds up what two histories counted that follow each other.
func (s Sum) plus(o Sum) Sum {
	return Sum{
		Reads: s.Reads + o.Reads, Marked: s.Marked + o.Marked, Refused: s.Refused + o.Refused, Lost: s.Lost + o.Lost,
		Outside: s.Outside + o.Outside, Unmarked: s.Unmarked + o.Unmarked, Keys: max(s.Keys, o.Keys),
		Writes: s.Writes + o.Writes, Pairs: s.Pairs + o.Pairs, Unknown: s.Unknown + o.Unknown,
		Waited: s.Waited + o.Waited, Silent: s.Silent + o.Silent,
	}
}

func (s Sum) String() string {
	return fmt.Sprintf("%d reads (%d marked, %d refused, %d lost; outside faults %d of %d unmarked), %d writes (%d unknown, %d waited for edges, %d of them for silent ones), %d pairs",
		s.Reads, s.Marked, s.Refused, s.Lost, s.Unmarked, s.Outside, s.Writes, s.Unknown, s.Waited, s.Silent, s.Pairs)
}
