package clicks

import (
	"cmp"
	"slices"

	"waypost/shared/click"
)

// Applied is what one stretch brought for one link.
type Applied struct {
	Link uint64 // link_id
	Tally
	Newest []click.Recent // newest first, at most click.MaxNewest
}

// AppliedTo returns what the stretch has for the link; false: nothing. Newest
// shares the stretch's memory.
func AppliedTo(s *click.Stretch, link uint64) (Applied, bool) {
	i, found := slices.BinarySearchFunc(s.Links, link, func(l click.LinkClicks, id uint64) int { return cmp.Compare(l.Link, id) })
	if !found {
		return Applied{}, false
	}
	a := Applied{Link: link, Newest: s.Links[i].Newest}
	for j := range s.Links[i].Hours {
		a.Add(Tally{Clicks: s.Links[i].Hours[j].Clicks, Bots: s.Links[i].Hours[j].Bots})
	}
	return a, true
}
