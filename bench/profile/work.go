package profile

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sort"

	"waypost/bench/fleet"
	"waypost/bench/load"
)

// agents is the number of browsers that a load comes from.
const agents = 256

// Where every answer comes from L1 a few requests will do; where it matters which ones were asked for lately, it takes more.
const fewAsks, manyAsks = 1 << 13, 1 << 17

// Work is what an edge is asked for while it is profiled.
type Work struct {
	Name  string
	Does  string            // in a few words
	Links int               // that there are
	Asks  int               // requests that are made beforehand, and repeated
	Env   map[string]string // of the edge, beside what all works have

	// visits makes n requests for some of the links.
	visits func(random *rand.Rand, links []fleet.Link, n int) []load.Ask
}

// Works are all that there are. Beside a small L1 there are as many links as it takes to leave most, or some, of them out
// of it.
func Works() []Work {
	return []Work{
		{Name: "one", Does: "redirects of one code from L1", Links: 1, Asks: fewAsks, visits: evenly},
		{Name: "many", Does: "redirects of 5,000 codes from L1, each as often as the others", Links: 5000, Asks: fewAsks, visits: evenly},
		{
			Name: "zipf", Does: "redirects by Zipf's law (exponent 1) over 100,000 links, of which L1 (6.4 MB) holds a part and L2 the rest",
			Links: 100_000, Asks: manyAsks, Env: map[string]string{"WAYPOST_L1_BYTES": "6400KB"}, visits: byZipf,
		},
		{
			Name: "l2", Does: "redirects of 20,000 codes, each as often as the others, most of them from L2, beside an L1 of 1 MiB",
			Links: 20_000, Asks: manyAsks, Env: map[string]string{"WAYPOST_L1_BYTES": "1MiB"}, visits: evenly,
		},
		{Name: "unknown", Does: "codes that no link has", Links: 1, Asks: manyAsks, visits: unknown},
	}
}

// evenly picks all links alike.
func evenly(random *rand.Rand, links []fleet.Link, n int) []load.Ask {
	return load.Visits(random, n, agents, func() fleet.Link { return links[random.IntN(len(links))] })
}

// byZipf picks links by Zipf's law with exponent 1, the first one the most often.
func byZipf(random *rand.Rand, links []fleet.Link, n int) []load.Ask {
	sums, sum := make([]float64, len(links)), 0.0
	for i := range sums {
		sum += 1 / float64(i+1)
		sums[i] = sum
	}
	return load.Visits(random, n, agents, func() fleet.Link { return links[sort.SearchFloat64s(sums, random.Float64()*sum)] })
}

// unknown asks for codes that are nobody's, each of which must get a 404.
func unknown(random *rand.Rand, _ []fleet.Link, n int) []load.Ask {
	asks := load.Visits(random, n, agents, func() fleet.Link { return fleet.Link{Code: fmt.Sprintf("none%08x", random.Uint32())} })
	for i := range asks {
		asks[i].Status = http.StatusNotFound
	}
	return asks
}
