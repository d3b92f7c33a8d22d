package postgres

import (
	"context"
	"crypto/rand"
	"time"

	"waypost/shared/feed"
)

// KeepSalts makes the salts of today and tomorrow (UTC, by PostgreSQL's clock)
// that are missing, and deletes those of days that are over. It is for every
// origin to call, about once a minute: of those that make the same one, one does.
func (s *Store) KeepSalts(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var today, tomorrow [feed.SaltSize]byte
	_, _ = rand.Read(today[:]) // never fails: it ends the process rather
	_, _ = rand.Read(tomorrow[:])
	_, err := s.pool.Exec(ctx, `
		WITH t AS (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day),
		over AS (DELETE FROM click_salt WHERE day < (SELECT day FROM t))
		INSERT INTO click_salt (day, key) SELECT day, $1::bytea FROM t UNION ALL SELECT day + 1, $2::bytea FROM t
		ON CONFLICT (day) DO NOTHING`, today[:], tomorrow[:])
	return translate("salts", err)
}

// salts are those of two columns as readRoster reads them.
func salts(days []time.Time, keys [][]byte) []feed.Salt {
	var all []feed.Salt
	for i := range days {
		s := feed.Salt{Day: dayOf(days[i])}
		copy(s.Key[:], keys[i])
		all = append(all, s)
	}
	return all
}
