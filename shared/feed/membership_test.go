package feed

import (
	"testing"
	"time"
)

func TestHowLongAnEdgeCounts(t *testing.T) {
	t.Parallel()
	left := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		name             string
		m                Membership
		after            time.Duration // since it left
		counts, answered bool
	}{
		{"a member", Membership{}, time.Hour, true, true},
		{"as it leaves", Membership{LeftAt: left}, 0, true, false},
		{"B later", Membership{LeftAt: left}, time.Second, true, false},
		{"just within 1 % more", Membership{LeftAt: left}, 1010*time.Millisecond - 1, true, false},
		{"1 % more later", Membership{LeftAt: left}, 1010 * time.Millisecond, false, false},
	} {
		if got := c.m.Counts(left.Add(c.after), time.Second); got != c.counts {
			t.Errorf("%s: counts: got %v, want %v", c.name, got, c.counts)
		}
		if got := c.m.Answered(); got != c.answered {
			t.Errorf("%s: answered: got %v, want %v", c.name, got, c.answered)
		}
	}
}
