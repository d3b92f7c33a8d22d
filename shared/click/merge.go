package click

import (
	"cmp"
	"errors"
	"slices"
)

// ErrApart reports stretches that do not follow one another.
var ErrApart = errors.New("click: stretches of two logs, or with others between them")

// Merge makes one stretch of this one and the one that follows it in the same
// log. The other one's parts may be shared afterwards. The error is ErrApart.
func (s *Stretch) Merge(next *Stretch) error {
	if s.Boot != next.Boot || s.Region != next.Region || s.To != next.From || s.Last {
		return ErrApart
	}
	s.To, s.Last = next.To, next.Last
	s.Links = merge(s.Links, next.Links,
		func(a, b *LinkClicks) int { return cmp.Compare(a.Link, b.Link) },
		(*LinkClicks).merge)
	s.Orphans = merge(s.Orphans, next.Orphans,
		func(a, b *HourCount) int { return cmp.Compare(a.Hour, b.Hour) },
		func(a, b *HourCount) { a.Count += b.Count })
	return nil
}

func (l *LinkClicks) merge(next *LinkClicks) {
	l.Hours = merge(l.Hours, next.Hours,
		func(a, b *Hour) int { return cmp.Compare(a.Hour, b.Hour) },
		(*Hour).merge)
	l.Days = merge(l.Days, next.Days,
		func(a, b *Day) int { return cmp.Compare(a.Day, b.Day) },
		func(a, b *Day) { a.Visitors.Merge(&b.Visitors) })
	newest := slices.Concat(next.Newest, l.Newest)
	slices.SortStableFunc(newest, func(a, b Recent) int { return cmp.Compare(b.At, a.At) })
	l.Newest = newest[:min(len(newest), MaxNewest)]
	l.Bound()
}

func (h *Hour) merge(next *Hour) {
	h.Clicks += next.Clicks
	h.Bots += next.Bots
	h.Parts = merge(h.Parts, next.Parts,
		func(a, b *Part) int { return compareParts(*a, *b) },
		func(a, b *Part) { a.Clicks += b.Clicks })
}

// merge makes one ascending list of two; join puts an element into its equal.
func merge[T any](a, b []T, compare func(a, b *T) int, join func(a, b *T)) []T {
	if len(b) == 0 {
		return a
	}
	all := make([]T, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := compare(&a[0], &b[0]); {
		case c < 0:
			all, a = append(all, a[0]), a[1:]
		case c > 0:
			all, b = append(all, b[0]), b[1:]
		default:
			all = append(all, a[0])
			join(&all[len(all)-1], &b[0])
			a, b = a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}
