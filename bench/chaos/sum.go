package chaos

import "fmt"

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
	for _, writes := range h.writes {
		s.Writes += len(writes)
		for _, w := range writes {
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
	}
	s.Lost = h.lost
	outside := h.share()
	s.Outside, s.Unmarked = outside.all, outside.unmarked
	return s
}

func (s Sum) String() string {
	return fmt.Sprintf("%d reads (%d marked, %d refused, %d lost; outside faults %d of %d unmarked), %d writes (%d unknown, %d waited for edges, %d of them for silent ones)",
		s.Reads, s.Marked, s.Refused, s.Lost, s.Unmarked, s.Outside, s.Writes, s.Unknown, s.Waited, s.Silent)
}
