package postgres_test

import (
	"strconv"
	"testing"

	"waypost/origin/internal/codes"
	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// BenchmarkCreate makes links in writes of 1 and of 1,000, as a creation and a
// bulk do.
func BenchmarkCreate(b *testing.B) {
	for _, size := range []int{1, 1000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s := newStore(b)
			var random codes.Random
			ms := make([]links.Mutation, size)
			made := 0
			for b.Loop() {
				for i := range ms {
					made++
					ms[i] = create(link.Key{}, content("https://example.com/some/longer/path/"+strconv.Itoa(made)))
					ms[i].Generate = random.Next
				}
				results, err := s.Write(b.Context(), ms)
				if err != nil || results[0].Err != nil {
					b.Fatalf("Write: %v, %+v", err, results)
				}
			}
			b.ReportMetric(float64(made)/b.Elapsed().Seconds(), "links/s")
		})
	}
}
