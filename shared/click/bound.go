package click

import (
	"cmp"
	"slices"
)

// Bound keeps of each day the values with the most clicks in the dimensions
// that requests can fill at will (MaxReferrers, MaxLanguages) and counts the
// rest of them as Other.
func (l *LinkClicks) Bound() {
	for _, d := range [...]Dimension{ByReferrer, ByLanguage} {
		for first := 0; first < len(l.Hours); {
			end := first + 1
			for end < len(l.Hours) && DayOf(l.Hours[end].Hour) == DayOf(l.Hours[first].Hour) {
				end++
			}
			boundDay(l.Hours[first:end], d)
			first = end
		}
	}
}

// boundDay bounds one dimension of one day's hours.
func boundDay(hours []Hour, d Dimension) {
	most := 0
	for i := range hours {
		most += len(partsOf(hours[i].Parts, d))
	}
	if most <= d.bound() {
		return
	}
	clicks := make(map[string]uint64)
	for i := range hours {
		for _, p := range partsOf(hours[i].Parts, d) {
			if p.Value != Other {
				clicks[p.Value] += p.Clicks
			}
		}
	}
	if len(clicks) <= d.bound() {
		return
	}
	ranked := make([]string, 0, len(clicks))
	for v := range clicks {
		ranked = append(ranked, v)
	}
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(cmp.Compare(clicks[b], clicks[a]), cmp.Compare(a, b))
	})
	for _, v := range ranked[d.bound():] {
		delete(clicks, v)
	}
	for i := range hours {
		hours[i].Parts = fold(hours[i].Parts, d, func(v string) bool { _, kept := clicks[v]; return kept })
	}
}

// partsOf is the run of one dimension in an hour's parts.
func partsOf(parts []Part, d Dimension) []Part {
	first, _ := slices.BinarySearchFunc(parts, d, func(p Part, d Dimension) int { return cmp.Compare(p.Dimension, d) })
	end := first
	for end < len(parts) && parts[end].Dimension == d {
		end++
	}
	return parts[first:end]
}

// fold counts the parts of a dimension that are not kept as Other.
func fold(parts []Part, d Dimension, kept func(string) bool) []Part {
	other := uint64(0)
	folded := slices.DeleteFunc(parts, func(p Part) bool {
		if p.Dimension != d || p.Value != Other && kept(p.Value) {
			return false
		}
		other += p.Clicks
		return true
	})
	if other == 0 {
		return folded
	}
	p := Part{Dimension: d, Value: Other, Clicks: other}
	at, _ := slices.BinarySearchFunc(folded, p, compareParts)
	return slices.Insert(folded, at, p)
}

func compareParts(a, b Part) int {
	return cmp.Or(cmp.Compare(a.Dimension, b.Dimension), cmp.Compare(a.Value, b.Value))
}
