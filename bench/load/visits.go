package load

import (
	"fmt"
	"math/rand/v2"

	"waypost/bench/fleet"
)

// Visits are n requests as browsers send them, each for the link that next picks. They come with so many agents, each
// with a referrer and a language out of some tens; the same ones for the same random.
func Visits(random *rand.Rand, n, agents int, next func() fleet.Link) []Ask {
	visits := make([]Ask, n)
	for i := range visits {
		link := next()
		visits[i] = Redirect(link.Path(), link.Target, append(Browser(random.IntN(agents)),
			fmt.Sprintf("Referer: https://site-%d.example/articles/%d", random.IntN(30), random.IntN(1000)),
			"Accept-Language: "+Languages()[random.IntN(len(Languages()))])...)
	}
	return visits
}

// Browser is what the i-th agent says of itself in every request, a line each.
func Browser(i int) []string {
	kinds := []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_%d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (X11; Linux x86_64; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0",
	}
	return []string{
		"User-Agent: " + fmt.Sprintf(kinds[i%len(kinds)], 100+i/len(kinds)),
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"Accept-Encoding: gzip, deflate, br",
	}
}

// Languages are what browsers say their users read.
func Languages() []string {
	return []string{"de-DE,de;q=0.9,en;q=0.8", "en-US,en;q=0.9", "en-GB,en;q=0.9", "fr-FR,fr;q=0.8", "es-ES,es;q=0.9", "pl", "tr-TR,tr;q=0.9", "nl-NL,nl;q=0.9"}
}
