package postgres_test

import (
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"waypost/deploy/services"
	"waypost/origin/internal/codes"
	"waypost/origin/internal/links"
	"waypost/shared/link"
)

// BenchmarkEntry reads links for fills, beside a bare SELECT of the same rows.
func BenchmarkEntry(b *testing.B) {
	url := services.Postgres(b)
	s := openStore(b, url)
	const some = 1000
	var random codes.Random
	ms := make([]links.Mutation, some)
	for i := range ms {
		ms[i] = create(link.Key{}, content("https://example.com/some/longer/path/"+strconv.Itoa(i)))
		ms[i].Generate = random.Next
	}
	made, err := s.Write(b.Context(), ms)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("entry", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := s.Entry(b.Context(), made[i%some].Link.Key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("select", func(b *testing.B) {
		conn, err := pgx.Connect(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close(b.Context()) //nolint:errcheck // nothing was written
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			var id, version int64
			var target string
			if err := conn.QueryRow(b.Context(), `SELECT link_id, version, target FROM links WHERE domain = '' AND code = $1`,
				made[i%some].Link.Key.Code).Scan(&id, &version, &target); err != nil {
				b.Fatal(err)
			}
		}
	})
}
