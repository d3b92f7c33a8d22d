package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"waypost/shared/link"
)

// errMachineHeld refuses a machine id that another process holds.
var errMachineHeld = errors.New("machine id is held by another process")

// errNoMachine reports that all machine ids are held.
var errNoMachine = errors.New("all machine ids are held")

// errLeaseLost reports that a lease ended and may be another's by now.
var errLeaseLost = errors.New("lease of the machine id has ended")

// LeaseMachine leases the machine id of snowflake codes to holder, a name that
// no other process has: the fixed one, or any free one if fixed is negative. Two
// leases of one id never overlap in time, by PostgreSQL's clock; from and until
// are by it too. It fails while a fixed id is held by another holder; the same
// one gets it again, since it asks only if the answer before was lost or its
// lease is over, and uses nothing of a lease before the new one.
func (s *Store) LeaseMachine(ctx context.Context, holder string, fixed int, ttl time.Duration) (id int, from, until time.Time, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	// The row is chosen and locked first; where another process takes it in
	// between, its new expiry is seen and the next row is tried. A fixed one is
	// waited for: it may be locked by an attempt of this holder's that was given up.
	lock := "FOR UPDATE SKIP LOCKED"
	if fixed >= 0 {
		lock = "FOR UPDATE"
	}
	err = s.pool.QueryRow(ctx, `
		UPDATE machine_lease m SET holder = $1, leased_at = t.now, expires_at = t.now + $3
		FROM (
			SELECT machine, clock_timestamp() AS now FROM machine_lease
			WHERE expires_at < clock_timestamp() AND $2 < 0 OR machine = $2 AND (expires_at < clock_timestamp() OR holder = $1)
			ORDER BY machine LIMIT 1 `+lock+`
		) t WHERE m.machine = t.machine
		RETURNING m.machine, m.leased_at, m.expires_at`, holder, fixed, ttl).Scan(&id, &from, &until)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && fixed >= 0:
		return 0, from, until, fmt.Errorf("postgres lease %d: %w", fixed, errMachineHeld)
	case errors.Is(err, pgx.ErrNoRows):
		return 0, from, until, fmt.Errorf("postgres lease: %w: %w", link.ErrUnavailable, errNoMachine)
	}
	return id, from.UTC(), until.UTC(), translate("lease machine id", err)
}

// RenewMachine makes the holder's lease end ttl from now, by PostgreSQL's clock.
// It fails if the lease has ended, even if nobody else has the id yet.
func (s *Store) RenewMachine(ctx context.Context, id int, holder string, ttl time.Duration) (until time.Time, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = s.pool.QueryRow(ctx, `
		UPDATE machine_lease SET expires_at = greatest(expires_at, clock_timestamp() + $3)
		WHERE machine = $1 AND holder = $2 AND expires_at >= clock_timestamp()
		RETURNING expires_at`, id, holder, ttl).Scan(&until)
	if errors.Is(err, pgx.ErrNoRows) {
		return until, fmt.Errorf("postgres lease %d: %w", id, errLeaseLost)
	}
	return until.UTC(), translate("renew machine id", err)
}

// ReleaseMachine ends the holder's lease at the given time, which must be after
// all that it was used for. A lease that is another's is left alone.
func (s *Store) ReleaseMachine(ctx context.Context, id int, holder string, end time.Time) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	_, err := s.pool.Exec(ctx, `UPDATE machine_lease SET expires_at = least(expires_at, $3)
		WHERE machine = $1 AND holder = $2`, id, holder, end)
	return translate("release machine id", err)
}

// NextCounter takes the next number for counter codes; 100,001 is the first.
// Numbers are never given twice; some may be left out.
func (s *Store) NextCounter(ctx context.Context) (uint64, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var n int64
	err := s.pool.QueryRow(ctx, `SELECT nextval('code_counter')`).Scan(&n)
	return unsigned(n), translate("counter", err)
}
