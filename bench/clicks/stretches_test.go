package clicks

import (
	"testing"
	"time"

	"waypost/shared/click"
)

func TestStretchesAreWhatAnOriginReads(t *testing.T) {
	t.Parallel()
	s := NewStretches("boot", 1, []uint64{3, 5, 8})
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	want := uint64(0)
	for range 2 {
		b, to := s.Next(1000, at)
		got, err := click.ParseStretch(b)
		if err != nil {
			t.Fatal(err)
		}
		if got.From != want || got.To != want+1000 || to != got.To || got.Clicks() != 1000 || len(got.Links) != 3 {
			t.Errorf("got [%d, %d) of %d clicks and %d links, want 1,000 from %d on, of 3 links", got.From, got.To, got.Clicks(), len(got.Links), want)
		}
		want = to
		visitors := uint64(0)
		for i := range got.Links {
			l := &got.Links[i]
			visitors += l.Days[0].Visitors.Count()
			sums := [click.Dimensions]uint64{}
			for _, p := range l.Hours[0].Parts {
				sums[p.Dimension] += p.Clicks
			}
			for d, n := range sums {
				if n != l.Hours[0].Clicks {
					t.Errorf("link %d: %d clicks by %s, want %d", l.Link, n, click.Dimension(d), l.Hours[0].Clicks)
				}
			}
		}
		if visitors != 1000 {
			t.Errorf("got %d visitors, want every click another one's", visitors)
		}
	}
}
