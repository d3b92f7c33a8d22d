package postgres_test

import (
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/postgres"
	"waypost/shared/feed"
)

func keepSalts(t *testing.T, s *postgres.Store) {
	t.Helper()
	if err := s.KeepSalts(t.Context()); err != nil {
		t.Fatalf("KeepSalts: %v", err)
	}
}

func salts(t *testing.T, s *postgres.Store) []feed.Salt {
	t.Helper()
	h, err := s.Heads(t.Context())
	if err != nil {
		t.Fatalf("Heads: %v", err)
	}
	return h.Salts
}

func TestAllOriginsHandOutTheSameSalts(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	stores := []*postgres.Store{openStore(t, url), openStore(t, url)}
	if got := salts(t, stores[0]); got != nil {
		t.Errorf("salts %v before any was made", got)
	}
	var wg sync.WaitGroup
	for range 4 {
		for _, s := range stores {
			wg.Go(func() { keepSalts(t, s) })
		}
	}
	wg.Wait()
	got, other := salts(t, stores[0]), salts(t, stores[1])
	days := feed.Day(today().UnixMicro())
	if len(got) != 2 || got[0].Day != days || got[1].Day != days+1 || got[0].Key == got[1].Key || got[0].Key == (feed.Salt{}).Key {
		t.Fatalf("salts %v, want different ones of days %d and %d", got, days, days+1)
	}
	if len(other) != 2 || other[0] != got[0] || other[1] != got[1] {
		t.Errorf("the origins hand out %v and %v", got, other)
	}
}

func TestASaltIsForgottenAfterItsDay(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	keepSalts(t, s)
	before := salts(t, s)
	// A night goes by: tomorrow's is today's.
	exec(t, url, `UPDATE click_salt SET day = day - 1 WHERE day = $1`, today())
	exec(t, url, `UPDATE click_salt SET day = day - 1 WHERE day = $1`, today().Add(24*time.Hour))
	got := salts(t, s)
	if len(got) != 1 || got[0].Key != before[1].Key {
		t.Errorf("after midnight salts %v, want tomorrow's as today's alone", got)
	}
	keepSalts(t, s)
	got = salts(t, s)
	if len(got) != 2 || got[0].Key != before[1].Key || got[1].Key == before[0].Key || got[1].Key == before[1].Key {
		t.Errorf("then salts %v, want today's as it was and a new one", got)
	}
	if n := count(t, url, `click_salt`); n != 2 {
		t.Errorf("%d salts are kept, want 2", n)
	}
	if n := count(t, url, `click_salt WHERE key = $1`, before[0].Key[:]); n != 0 {
		t.Error("the salt of a day that is over is still there")
	}
}
