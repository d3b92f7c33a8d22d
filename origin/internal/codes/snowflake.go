package codes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"waypost/shared/link"
)

// A snowflake number is, from the highest bit: 0, 41 bits of milliseconds since
// 2024, 10 bits of machine id, 12 bits of sequence within the millisecond.
const (
	machineBits  = 10
	sequenceBits = 12
	maxSequence  = 1<<sequenceBits - 1
	maxMillis    = 1<<41 - 1 // in 2093

	start = 1704067200000 // 2024-01-01 00:00 UTC, milliseconds since 1970
)

// maxStepBack is the longest wait for a clock that went back; beyond it Next
// refuses, because somebody is waiting for an answer.
const maxStepBack = 250 * time.Millisecond

var (
	errNoLease   = errors.New("no machine id is leased")
	errClockBack = errors.New("the clock is behind the newest code or the lease of the machine id")
	errClockOff  = errors.New("the clock is ahead of the lease of the machine id")
	errExhausted = errors.New("41 bits of milliseconds are used up")
)

// Snowflake makes codes that sort roughly by time, from a machine id that no
// other process has at that time. It is safe for concurrent use. Codes can be
// made while Run holds a lease.
//
// What makes a number unique is that its milliseconds lie within the lease of
// its machine id, as PostgreSQL's clock measured it, and leases of one id do not
// overlap; what this machine's clock does can only lead to a refusal.
type Snowflake struct {
	cfg    SnowflakeConfig
	leases lessor

	mu       sync.Mutex
	lease    lease
	last     int64 // milliseconds since start of the newest number
	sequence int64 // of the newest number
}

// lease is a machine id with the milliseconds since start that may be used with
// it, from ≤ ms < until. The zero lease allows none.
type lease struct {
	machine     int64
	from, until int64
	deadline    time.Time // by the monotonic clock: PostgreSQL's end of the lease is not before it
}

// Next returns the next number in base 62, of 11 characters from 2030 on. It
// waits up to a millisecond when one is used up, and up to 250 ms for a clock
// that went back; otherwise, and without a lease, it is link.ErrUnavailable.
func (s *Snowflake) Next(ctx context.Context) (string, error) {
	for {
		n, wait, err := s.take()
		if err != nil {
			return "", fmt.Errorf("snowflake code: %w: %w", link.ErrUnavailable, err)
		}
		if wait == 0 {
			return Base62(n), nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return "", fmt.Errorf("snowflake code: %w: %w", link.ErrUnavailable, ctx.Err())
		}
	}
}

// take returns a number, or how long to wait for one.
func (s *Snowflake) take() (n uint64, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now() // under the lock: while it is waited for, others go on
	ms := now.UnixMilli() - start
	floor := max(s.last, s.lease.from)
	back := time.Duration(floor-ms) * time.Millisecond
	switch {
	case s.lease.until == 0 || !now.Before(s.lease.deadline):
		return 0, 0, errNoLease
	case ms >= s.lease.until:
		return 0, 0, errClockOff
	case ms > maxMillis:
		return 0, 0, errExhausted
	case back > maxStepBack:
		return 0, 0, errClockBack
	case back > 0:
		return 0, back, nil
	case ms > s.last:
		s.last, s.sequence = ms, 0
	case s.sequence == maxSequence:
		return 0, time.UnixMilli(start + ms + 1).Sub(now), nil
	default:
		s.sequence++
	}
	n = uint64(ms<<(machineBits+sequenceBits) | s.lease.machine<<sequenceBits | s.sequence) //nolint:gosec // 63 bits
	return n, 0, nil
}
