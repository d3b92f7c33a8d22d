package clicks

import (
	"cmp"
	"slices"

	"waypost/shared/click"
)

// maxShares is how many values of a dimension one answer tells apart, besides
// click.Other: a link may have had a thousand others every day.
const maxShares = 1_000

// Share is how many clicks have one value in a dimension.
type Share struct {
	Value  string // "": unknown, or direct for a referrer
	Clicks uint64
}

// By divides the clicks of the range by a dimension, most first. What is beyond
// the first thousand values is added to click.Other, so that the shares add up
// to Total.
func (s *Stats) By(d click.Dimension) []Share {
	var shares []Share
	other := Share{Value: click.Other}
	for _, p := range s.Parts {
		switch {
		case p.Dimension != d:
		case p.Value == click.Other:
			other.Clicks += p.Clicks
		default:
			shares = append(shares, Share{Value: p.Value, Clicks: p.Clicks})
		}
	}
	slices.SortFunc(shares, mostFirst)
	for _, beyond := range shares[min(len(shares), maxShares):] {
		other.Clicks += beyond.Clicks
	}
	shares = shares[:min(len(shares), maxShares)]
	if other.Clicks == 0 {
		return shares
	}
	i, _ := slices.BinarySearchFunc(shares, other, mostFirst)
	return slices.Insert(shares, i, other)
}

func mostFirst(a, b Share) int {
	return cmp.Or(cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(a.Value, b.Value))
}
