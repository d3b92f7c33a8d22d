package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// shownOthers is how many reads the reason of a C5 names.
const shownOthers = 20

// share counts reads outside faults.
type share struct {
	all, unmarked int
	others        []Read // those that are not, by the time of their invocation
}

func (s share) value() float64 { return float64(s.unmarked) / float64(s.all) }

// why says which reads are at fault, and which faults have been excused.
func (s share) why(faults []Fault) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d reads outside faults are unmarked; not so", s.unmarked, s.all)
	for _, r := range s.others[:min(len(s.others), shownOthers)] {
		b.WriteString("\n  " + r.Key + " " + r.String())
	}
	b.WriteString("\nfaults")
	for _, f := range faults {
		fmt.Fprintf(&b, "\n  [%s..%s] %s", ms(f.From), ms(f.Until), f.Name)
	}
	return b.String()
}

// share is C5's: an answer that says nothing of the link (503) is as little help to a visitor as a marked one. h.mu is
// held.
func (h *History) share() (s share) {
	for _, reads := range h.reads {
		for _, r := range reads {
			if h.faulty(r) {
				continue
			}
			s.all++
			if r.tells() && !r.Marked {
				s.unmarked++
			} else {
				s.others = append(s.others, r)
			}
		}
	}
	slices.SortFunc(s.others, func(a, b Read) int { return cmp.Compare(a.Invoked, b.Invoked) })
	return s
}

// faulty is whether any part of a read fell into a fault.
func (h *History) faulty(r Read) bool {
	return slices.ContainsFunc(h.faults, func(f Fault) bool { return r.Invoked < f.Until && r.Answered > f.From })
}
