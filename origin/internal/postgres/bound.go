package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"waypost/shared/link"
)

// errBoundMoving refuses a second change of the bound while edges or barriers
// still go by the value before the first.
var errBoundMoving = errors.New("the last change of the stale bound is not complete yet")

// SetBound changes how old an unmarked answer of an edge may be, in whole
// microseconds; nothing if it is that already. Leases and barriers follow as
// Roster says. A change can follow another one after the longer of the bounds
// only: earlier it is link.ErrUnavailable.
//
// Like Leave it takes two commits, so that the old bound is waited for from
// when the new one is seen by all.
func (s *Store) SetBound(ctx context.Context, bound time.Duration) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	bound = bound.Truncate(time.Microsecond)
	if bound <= 0 {
		return fmt.Errorf("postgres bound: %v is not above 0", bound)
	}
	_, err := s.pool.Exec(ctx, `UPDATE stale_bound SET previous = value, value = $1, since = 'infinity'
		WHERE value <> $1 AND clock_timestamp() > since + greatest(value, previous) * `+slack, bound)
	if err != nil {
		return translate("bound", err)
	}
	if _, err := s.pool.Exec(ctx, `UPDATE stale_bound SET since = clock_timestamp() WHERE since = 'infinity'`); err != nil {
		return translate("bound", err)
	}
	var set bool
	if err := s.pool.QueryRow(ctx, `SELECT value = $1 FROM stale_bound`, bound).Scan(&set); err != nil {
		return translate("bound", err)
	}
	if !set {
		return fmt.Errorf("postgres bound: %w: %w", link.ErrUnavailable, errBoundMoving)
	}
	return nil
}
