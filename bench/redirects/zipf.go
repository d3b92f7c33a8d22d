package redirects

import (
	"math/rand/v2"
	"sort"
)

// Zipf draws numbers from 0 on, each in inverse proportion to its rank: the number r with probability 1 / ((r+1) H),
// where H is the sum of 1/1 … 1/n. (The one of math/rand/v2 wants an exponent beyond 1.) Not safe for concurrent use.
type Zipf struct {
	random *rand.Rand
	upTo   []float64 // the sum of 1/1 … 1/(r+1), by r
}

// NewZipf draws from n numbers.
func NewZipf(random *rand.Rand, n int) *Zipf {
	z := &Zipf{random: random, upTo: make([]float64, n)}
	sum := 0.0
	for r := range z.upTo {
		sum += 1 / float64(r+1)
		z.upTo[r] = sum
	}
	return z
}

// Next draws a number.
func (z *Zipf) Next() int {
	return sort.SearchFloat64s(z.upTo, z.random.Float64()*z.upTo[len(z.upTo)-1])
}
