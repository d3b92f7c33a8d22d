package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/shared/click"
)

// BenchmarkApplyStretch counts clicks of 1, 100 and 10,000 links, as edges send
// them when that many are clicked at random: some 20 parts a link, every click
// by another visitor. clicks/s is what one sender reaches; what a click costs
// falls with the clicks per link and stretch.
func BenchmarkApplyStretch(b *testing.B) {
	for _, bb := range []struct{ links, clicks int }{
		{1, 50_000}, {100, 50_000}, {10_000, 50_000}, {10_000, 200_000},
	} {
		b.Run(fmt.Sprintf("links=%d/clicks=%d", bb.links, bb.clicks), func(b *testing.B) {
			url := services.Postgres(b)
			s := openStore(b, url)
			ids := newLinks(b, url, bb.links)
			random := rand.New(rand.NewPCG(1, 2))
			l := &log{boot: "bench", region: "eu"}
			at := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
			bytes := 0
			for b.Loop() {
				b.StopTimer()
				at = at.Add(time.Second)
				visits := make([]visit, bb.clicks)
				for i := range visits {
					visits[i] = visit{
						link: ids[random.IntN(len(ids))], at: at, visitor: random.Uint64(),
						referrer: fmt.Sprintf("site-%d.example", random.IntN(20)), country: "DE",
					}
				}
				sent := l.stretch(visits...).Append(nil)
				bytes += len(sent)
				b.StartTimer()
				st, err := click.ParseStretch(sent)
				if err != nil {
					b.Fatalf("ParseStretch: %v", err)
				}
				if _, applied, err := s.ApplyStretch(b.Context(), st); err != nil || !applied {
					b.Fatalf("ApplyStretch: applied %v, %v", applied, err)
				}
			}
			clicks := float64(b.N) * float64(bb.clicks)
			b.ReportMetric(clicks/b.Elapsed().Seconds(), "clicks/s")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/clicks, "µs/click")
			b.ReportMetric(float64(bytes)/float64(b.N), "bytes/stretch")
		})
	}
}
