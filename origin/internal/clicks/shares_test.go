package clicks_test

import (
	"fmt"
	"slices"
	"testing"

	"waypost/origin/internal/clicks"
	"waypost/shared/click"
)

func TestSharesAreSortedByClicks(t *testing.T) {
	t.Parallel()
	s := clicks.Stats{Parts: []click.Part{
		{Dimension: click.ByRegion, Value: "eu", Clicks: 9},
		{Dimension: click.ByReferrer, Value: "", Clicks: 2},
		{Dimension: click.ByReferrer, Value: "a.example", Clicks: 2},
		{Dimension: click.ByReferrer, Value: "b.example", Clicks: 5},
		{Dimension: click.ByReferrer, Value: click.Other, Clicks: 3},
	}}
	want := []clicks.Share{{Value: "b.example", Clicks: 5}, {Value: click.Other, Clicks: 3}, {Value: "", Clicks: 2}, {Value: "a.example", Clicks: 2}}
	if got := s.By(click.ByReferrer); !slices.Equal(got, want) {
		t.Errorf("by referrer = %v, want %v", got, want)
	}
	if got := s.By(click.ByOS); len(got) != 0 {
		t.Errorf("by OS = %v, want nothing", got)
	}
}

func TestSharesBeyondAThousandAreAddedUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values, other uint64 // of 1 click up to that many; and what is other already
		want, rest    uint64
	}{
		"none":                        {0, 0, 0, 0},
		"as many as may be":           {1000, 0, 1000, 0},
		"as many as may be and other": {1000, 7, 1001, 7},
		"one too many":                {1001, 0, 1001, 1},
		"many":                        {1200, 7, 1001, 200*201/2 + 7},
	} {
		var s clicks.Stats
		sum := c.other
		for n := range c.values {
			s.Parts = append(s.Parts, click.Part{Dimension: click.ByReferrer, Value: fmt.Sprintf("%04d.example", n), Clicks: n + 1})
			sum += n + 1
		}
		if c.other > 0 {
			s.Parts = append(s.Parts, click.Part{Dimension: click.ByReferrer, Value: click.Other, Clicks: c.other})
		}
		shares := s.By(click.ByReferrer)
		rest := uint64(0)
		for _, share := range shares {
			sum -= share.Clicks
			if share.Value == click.Other {
				rest = share.Clicks
			}
		}
		if uint64(len(shares)) != c.want || rest != c.rest || sum != 0 {
			t.Errorf("%s: %d shares, %d other, %d clicks missing, want %d, %d and none", name, len(shares), rest, sum, c.want, c.rest)
		}
	}
}
