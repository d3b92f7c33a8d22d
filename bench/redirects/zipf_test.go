package redirects

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestZipfDrawsInInverseProportionToTheRank(t *testing.T) {
	t.Parallel()
	const n, draws = 100, 200_000
	z := NewZipf(rand.New(rand.NewPCG(1, 2)), n)
	var counts [n]float64
	for range draws {
		counts[z.Next()]++
	}
	sum := 0.0
	for r := range n {
		sum += 1 / float64(r+1)
	}
	for _, r := range []int{0, 1, 9, 99} {
		want := draws / sum / float64(r+1)
		if got := counts[r]; math.Abs(got-want) > 5*math.Sqrt(want) { // five standard deviations
			t.Errorf("number %d: got %.0f of %d draws, want %.0f", r, got, draws, want)
		}
	}
}
