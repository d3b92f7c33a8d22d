package postgres_test

import (
	"errors"
	"testing"
	"time"

	"waypost/deploy/services"
	"waypost/origin/internal/postgres"
	"waypost/shared/link"
)

func setBound(t *testing.T, s *postgres.Store, bound time.Duration) {
	t.Helper()
	if err := s.SetBound(t.Context(), bound); err != nil {
		t.Fatalf("SetBound(%v): %v", bound, err)
	}
}

func TestAChangedBoundReachesTheCautiousSideFirst(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	check := func(step string, lease, barrier time.Duration) {
		t.Helper()
		r := roster(t, s)
		got := time.Duration(r.Heads.Bound) * time.Microsecond
		if got != lease || r.BarrierBound != barrier {
			t.Errorf("%s: leases %v, barriers %v; want %v, %v", step, got, r.BarrierBound, lease, barrier)
		}
	}
	since := func(sql string) {
		t.Helper()
		exec(t, url, `UPDATE stale_bound SET since = `+sql)
	}
	moving := func(step string, bound time.Duration) {
		t.Helper()
		if err := s.SetBound(t.Context(), bound); !errors.Is(err, link.ErrUnavailable) {
			t.Errorf("%s: SetBound(%v) = %v, want ErrUnavailable", step, bound, err)
		}
	}
	check("at first", time.Second, time.Second)
	setBound(t, s, time.Hour)
	since(`clock_timestamp()`)
	check("raised to 1 h, first 1 s not over", time.Second, time.Hour)
	since(`clock_timestamp() - interval '1.1 seconds'`)
	check("raised to 1 h, 1.1 s ago", time.Hour, time.Hour)
	moving("1.1 s after it was raised", 2*time.Hour)
	since(`clock_timestamp() - interval '61 minutes'`)

	setBound(t, s, 2*time.Hour)
	check("raised to 2 h", time.Hour, 2*time.Hour)
	setBound(t, s, 2*time.Hour)
	check("set once more", time.Hour, 2*time.Hour)
	since(`clock_timestamp() - interval '59 minutes'`)
	check("raised 59 min ago", time.Hour, 2*time.Hour)
	since(`clock_timestamp() - interval '61 minutes'`)
	check("raised 61 min ago", 2*time.Hour, 2*time.Hour)
	since(`clock_timestamp() - interval '122 minutes'`)

	setBound(t, s, 300*time.Millisecond)
	check("lowered", 300*time.Millisecond, 2*time.Hour)
	moving("just lowered", time.Second)
	check("refused while it was moving", 300*time.Millisecond, 2*time.Hour)
	since(`clock_timestamp() - interval '119 minutes'`)
	check("lowered 119 min ago", 300*time.Millisecond, 2*time.Hour)
	since(`clock_timestamp() - interval '122 minutes'`)
	check("lowered 122 min ago", 300*time.Millisecond, 300*time.Millisecond)
}

func TestAChangeOfTheBoundThatWasCutShortIsEndedByTheNext(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	s := openStore(t, url)
	exec(t, url, `UPDATE stale_bound SET value = '1 hour', since = 'infinity'`)
	if r := roster(t, s); r.Heads.Bound != time.Second.Microseconds() || r.BarrierBound != time.Hour {
		t.Errorf("in between: leases %d µs, barriers %v; want 1 s, 1 h", r.Heads.Bound, r.BarrierBound)
	}
	setBound(t, s, time.Hour)
	var known bool
	err := connect(t, url).QueryRow(t.Context(), `SELECT since <= clock_timestamp() FROM stale_bound`).Scan(&known)
	if err != nil || !known {
		t.Errorf("since is known: %v, %v, want true", known, err)
	}
}

func TestABoundMustBeAboveZero(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, bound := range []time.Duration{0, -time.Second, time.Nanosecond} {
		if err := s.SetBound(t.Context(), bound); err == nil {
			t.Errorf("SetBound(%v) was taken", bound)
		}
	}
	if r := roster(t, s); r.BarrierBound != time.Second {
		t.Errorf("bound %v, want 1 s as before", r.BarrierBound)
	}
}
