package clicks

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"waypost/bench/fleet"
	"waypost/shared/click"
)

// zipf is the exponent by which links are more popular than the next one.
const zipf = 1.1

// Visits are n requests for links as browsers send them, the first links the most often (Zipf). They come with so many
// agents, each with a referrer and a language out of some tens; the same ones for the same seed.
func Visits(seed uint64, links []fleet.Link, n, agents int) [][]byte {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a load, no secret
	popular := rand.NewZipf(random, zipf, 1, uint64(len(links)-1))
	visits := make([][]byte, n)
	for i := range visits {
		header := browser(random.IntN(agents))
		header["Referer"] = fmt.Sprintf("https://site-%d.example/articles/%d", random.IntN(30), random.IntN(1000))
		header["Accept-Language"] = languages()[random.IntN(len(languages()))]
		visits[i] = []byte(fleet.Request{Path: links[popular.Uint64()].Path(), Header: header}.Bytes())
	}
	return visits
}

// LongVisits are n requests for links whose records are as long as any: each refers to a host with a name as long as
// names can be.
func LongVisits(links []fleet.Link, n int) [][]byte {
	visits := make([][]byte, n)
	for i := range visits {
		header := browser(i % 4)
		header["Referer"] = fmt.Sprintf("https://%04d.%s", i, strings.Repeat("long.example.", 20)[:click.MaxReferrer-5])
		visits[i] = []byte(fleet.Request{Path: links[i%len(links)].Path(), Header: header}.Bytes())
	}
	return visits
}

// browser is what the i-th kind of browser says of itself in every request.
func browser(i int) map[string]string {
	kinds := []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_%d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (X11; Linux x86_64; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0",
	}
	return map[string]string{
		"User-Agent":      fmt.Sprintf(kinds[i%len(kinds)], 100+i/len(kinds)),
		"Accept":          "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"Accept-Encoding": "gzip, deflate, br",
	}
}

func languages() []string {
	return []string{"de-DE,de;q=0.9,en;q=0.8", "en-US,en;q=0.9", "en-GB,en;q=0.9", "fr-FR,fr;q=0.8", "es-ES,es;q=0.9", "pl", "tr-TR,tr;q=0.9", "nl-NL,nl;q=0.9"}
}
