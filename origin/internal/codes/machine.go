package codes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"waypost/shared/link"
)

// lessor leases machine ids; times are by its own clock.
type lessor interface {
	LeaseMachine(ctx context.Context, holder string, fixed int, ttl time.Duration) (id int, from, until time.Time, err error)
	RenewMachine(ctx context.Context, id int, holder string, ttl time.Duration) (until time.Time, err error)
	ReleaseMachine(ctx context.Context, id int, holder string, end time.Time) error
}

const (
	defaultTTL = time.Minute
	// retryPause is how long to wait after the lessor was unavailable.
	retryPause = time.Second
	// leaseTimeout bounds one call of the lessor.
	leaseTimeout = 5 * time.Second
)

// AnyMachine leases whatever machine id is free.
const AnyMachine = -1

// SnowflakeConfig says who leases which machine id.
type SnowflakeConfig struct {
	Holder  string        // names this process and no other, also not its predecessor
	Machine int           // 0 to 1023, or AnyMachine
	TTL     time.Duration // of a lease, renewed three times as often; 0: 1 minute
	Now     func() time.Time
	Logger  *slog.Logger
}

// NewSnowflake returns a Snowflake that leases its machine id from leases. Now
// and Logger are required.
func NewSnowflake(leases lessor, cfg SnowflakeConfig) *Snowflake {
	if cfg.TTL == 0 {
		cfg.TTL = defaultTTL
	}
	return &Snowflake{cfg: cfg, leases: leases}
}

// Run holds a lease until ctx ends, then gives it back; codes are made only
// meanwhile. While the lessor is unavailable it tries again. It fails if a fixed
// machine id is held by another process, also by a predecessor that was killed
// less than a lease ago.
func (s *Snowflake) Run(ctx context.Context) error {
	defer s.release(ctx)
	failing := false
	for ctx.Err() == nil {
		pause := s.cfg.TTL / 3
		err := s.extend(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			failing = false
		case !errors.Is(err, link.ErrUnavailable):
			return fmt.Errorf("machine id: %w", err)
		default:
			pause = min(pause, retryPause)
			if !failing {
				s.cfg.Logger.WarnContext(ctx, "machine id is not leased", slog.Any("error", err))
			}
			failing = true
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return nil
}

// extend renews the lease, or takes one if there is none any more.
func (s *Snowflake) extend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	sent := s.cfg.Now()
	l := s.current()
	if l.until == 0 || !sent.Before(l.deadline) {
		return s.acquire(ctx, sent)
	}
	until, err := s.leases.RenewMachine(ctx, int(l.machine), s.cfg.Holder, s.cfg.TTL)
	switch {
	case errors.Is(err, link.ErrUnavailable):
		return err
	case err != nil: // it ended earlier than this machine's clock says
		return s.acquire(ctx, sent)
	}
	l.until, l.deadline = sinceStart(until), sent.Add(s.cfg.TTL)
	s.hold(l)
	return nil
}

func (s *Snowflake) acquire(ctx context.Context, sent time.Time) error {
	s.hold(lease{})
	id, from, until, err := s.leases.LeaseMachine(ctx, s.cfg.Holder, s.cfg.Machine, s.cfg.TTL)
	if err != nil {
		return err
	}
	// The milliseconds that the lease has whole: those at its edges may be partly
	// another holder's.
	s.hold(lease{machine: int64(id), from: sinceStart(from) + 1, until: sinceStart(until), deadline: sent.Add(s.cfg.TTL)})
	return nil
}

// release ends the lease as early as what was made of it allows, so that a
// successor with the same fixed id need not wait for its end.
func (s *Snowflake) release(ctx context.Context) {
	s.mu.Lock()
	l, end := s.lease, max(s.last+1, s.lease.from)
	s.lease = lease{}
	s.mu.Unlock()
	if l.until == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
	defer cancel()
	if err := s.leases.ReleaseMachine(ctx, int(l.machine), s.cfg.Holder, time.UnixMilli(start+end)); err != nil {
		s.cfg.Logger.WarnContext(ctx, "machine id is not released", slog.Int64("machine", l.machine), slog.Any("error", err))
	}
}

func (s *Snowflake) current() lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease
}

func (s *Snowflake) hold(l lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = l
}

func sinceStart(t time.Time) int64 { return t.UnixMilli() - start }
