package clicks

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"waypost/bench/fleet"
	"waypost/bench/load"
	"waypost/shared/click"
)

// zipf is the exponent by which links are more popular than the next one.
const zipf = 1.1

// Visits are n requests for links as browsers send them, the first links the most often (Zipf), with so many agents;
// the same ones for the same seed.
func Visits(seed uint64, links []fleet.Link, n, agents int) []load.Ask {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a load, no secret
	popular := rand.NewZipf(random, zipf, 1, uint64(len(links)-1))
	return load.Visits(random, n, agents, func() fleet.Link { return links[popular.Uint64()] })
}

// LongVisits are n requests for links whose records are as long as any: each refers to a host with a name as long as
// names can be.
func LongVisits(links []fleet.Link, n int) []load.Ask {
	visits := make([]load.Ask, n)
	for i := range visits {
		link := links[i%len(links)]
		visits[i] = load.Redirect(link.Path(), link.Target, append(load.Browser(i%4),
			fmt.Sprintf("Referer: https://%04d.%s", i, strings.Repeat("long.example.", 20)[:click.MaxReferrer-5]))...)
	}
	return visits
}
