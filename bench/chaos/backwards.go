package chaos

import (
	"cmp"
	"slices"
)

// era is one boot of one edge.
type era struct{ edge, boot int }

// seen is the newest write that earlier reads must have known, and which read showed it.
type seen struct {
	i    int
	read Read
}

func (s *seen) raise(i int, r Read) {
	if i > s.i {
		*s = seen{i, r}
	}
}

// backwards finds the violations of C2. A read is behind another one if that was answered before this one was invoked.
// Where a sight does not say which of several writes it is of, the oldest one is taken that the reads before allow:
// whatever it really was is at least as new, so nothing is found that did not happen.
func (s *story) backwards() (found []Violation) {
	invoked := make([]int, len(s.reads)) // indices of reads, by the time of their invocation
	for n := range invoked {
		invoked[n] = n
	}
	slices.SortStableFunc(invoked, func(a, b int) int { return cmp.Compare(s.reads[a].Invoked, s.reads[b].Invoked) })

	boots := map[era]*seen{}
	unmarked := map[int]*seen{} // by edge
	bars := make([]seen, len(s.reads))
	next := 0
	// By the time a read is answered, all reads invoked until then have taken what had been answered before them.
	for n, r := range s.reads {
		for ; next < len(invoked) && s.reads[invoked[next]].Invoked <= r.Answered; next++ {
			q := s.reads[invoked[next]]
			bar := *at(boots, era{q.Edge, q.Boot})
			if across := at(unmarked, q.Edge); !q.Marked && across.i > bar.i {
				bar = *across
			}
			bars[invoked[next]] = bar
		}
		if s.newest(r) < 0 {
			continue // C0
		}
		bar := bars[n]
		i := s.oldest(r, bar.i)
		if i < 0 {
			why := "behind " + s.writes[bar.i].String() + " as shown by " + bar.read.String()
			found = append(found, Violation{Check: C2, Key: r.Key, Read: r, Why: why})
			continue
		}
		at(boots, era{r.Edge, r.Boot}).raise(i, r)
		if !r.Marked {
			at(unmarked, r.Edge).raise(i, r)
		}
	}
	return found
}

// at is the map's value of a key, made at its first use.
func at[K comparable](m map[K]*seen, key K) *seen {
	if m[key] == nil {
		m[key] = &seen{}
	}
	return m[key]
}
