package limit

import (
	"math/rand/v2"
	"testing"
	"time"

	"waypost/origin/internal/links"
)

func TestBucketGivesWhatItHas(t *testing.T) {
	t.Parallel()
	const now, second = int64(1_000_000_000), int64(1_000_000)
	two := links.Allowance{Rate: 2, Burst: 10} // a token every 500 ms, full after 5 s
	for name, c := range map[string]struct {
		full, asked int64
		want        links.Grant
	}{
		"one of a full one":           {0, 1, links.Grant{Tokens: 1, Left: 9, Wait: 500 * time.Millisecond}},
		"all of a full one":           {0, 10, links.Grant{Tokens: 10, Wait: 500 * time.Millisecond}},
		"more than a full one has":    {0, 11, links.Grant{Tokens: 10, Wait: 500 * time.Millisecond}},
		"none of a full one":          {0, 0, links.Grant{Left: 10}},
		"none of an empty one":        {now + 5*second, 0, links.Grant{Wait: 500 * time.Millisecond}},
		"of one that was full before": {now - second, 1, links.Grant{Tokens: 1, Left: 9, Wait: 500 * time.Millisecond}},
		"of an empty one":             {now + 5*second, 1, links.Grant{Wait: 500 * time.Millisecond}},
		"of one with half a token":    {now + 5*second - second/4, 1, links.Grant{Wait: 250 * time.Millisecond}},
		"part of what one has":        {now + 4*second, 5, links.Grant{Tokens: 2, Wait: 500 * time.Millisecond}},
		"of one beyond empty":         {now + 500*second, 1, links.Grant{Wait: 500 * time.Millisecond}},
	} {
		b := bucketOf(two)
		after, given, left := b.take(c.full, now, c.asked)
		if got := b.grant(given, left); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
		if after < now || after > now+b.depth {
			t.Errorf("%s: full after %d µs, want 0 to %d", name, after-now, b.depth)
		}
	}
}

// Whatever is asked for and when: never more than the allowance, and no token is
// lost to rounding by more than one interval.
func TestBucketKeepsToTheAllowance(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a := links.Allowance{Rate: links.MinCreateRate + r.Float64()*links.MaxCreateRate/2, Burst: 1 + r.IntN(2000)}
		b := bucketOf(a)
		start := int64(1_000_000_000_000)
		now, full, total, asked := start, int64(0), int64(0), int64(0)
		for range 500 {
			now += r.Int64N(3 * b.interval)
			n := 1 + r.Int64N(5)
			var given int64
			full, given, _ = b.take(full, now, n)
			total, asked = total+given, asked+n
			if most := float64(a.Burst) + a.Rate*float64(now-start)/1e6; float64(total) > most {
				t.Fatalf("%+v: %d tokens in %d µs, want at most %v", a, total, now-start, most)
			}
		}
		elapsed := now - start
		if least := min(asked, elapsed/b.interval); total < least {
			t.Errorf("%+v: %d of %d tokens in %d µs, want %d at least", a, total, asked, elapsed, least)
		}
	}
}
