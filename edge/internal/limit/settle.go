package limit

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	batchSize  = 512         // clients a pipeline
	probeEvery = time.Second // of silence towards Redis
	minRetry   = 100 * time.Millisecond
	maxRetry   = 2 * time.Second
	warmConns  = 8 // that mode Exact begins with
)

// Run settles with Redis until ctx ends, and then returns nil: every Settle it
// charges what was admitted since the last round, in pipelines of 512 clients
// one after another, and it finds out when Redis is back. A charge whose answer
// was lost is sent again: rather twice than not at all. What the last round
// before the end did not reach stays uncharged. In mode Exact it first sees to it
// that there are connections. Run must not be called twice; no goroutine outlives
// it.
func (l *Limiter) Run(ctx context.Context) error {
	if l.shared == nil {
		<-ctx.Done()
		return nil
	}
	if l.mode == Exact {
		l.shared.warm(ctx)
	}
	s := newSettler(l)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			timer.Reset(s.step(ctx))
		}
	}
}

// settler is what Run knows from one round to the next. Not safe for concurrent use.
type settler struct {
	*Limiter
	debits   []debit
	heard    time.Duration // when Redis last answered
	started  time.Duration // start of the last round that Redis answered; negative: none
	retries  int           // probes since Redis was given up
	reported bool
	last     error // what was last reported
}

func newSettler(l *Limiter) *settler {
	return &settler{Limiter: l, debits: make([]debit, 0, batchSize), heard: -probeEvery, started: -1}
}

// step does what is to do now and returns how long to wait for the next.
func (s *settler) step(ctx context.Context) time.Duration {
	start := s.clock()
	if err := s.work(ctx, start); err != nil {
		if ctx.Err() != nil {
			return 0
		}
		s.settleErrors.Add(1)
		s.health.failed(err)
	}
	s.report()
	if !s.health.open.Load() {
		s.retries = 0
		return max(0, s.settle-(s.clock()-start))
	}
	s.started = -1
	pause := min(maxRetry, minRetry<<min(s.retries, 10))
	s.retries++
	return pause/2 + rand.N(pause/2) //nolint:gosec // jitter, no secret
}

// work is a probe, if Redis was not heard for long or was given up, and a round.
// An outage ends after its first round, so that no edge admits by what it knew
// before.
func (s *settler) work(ctx context.Context, start time.Duration) error {
	away := s.health.open.Load()
	if away || start-s.heard >= probeEvery {
		if err := s.shared.probe(ctx); err != nil {
			return err
		}
		s.heard = s.clock()
	}
	if s.mode == Async {
		if err := s.round(ctx, away); err != nil {
			return err
		}
		if s.started >= 0 {
			s.window.Store(int64(s.clock() - s.started))
		}
		s.started = start
	}
	if away {
		s.health.close()
	} else {
		s.health.answered()
	}
	return nil
}

// round settles every bucket that is due. After an outage it forgives what was
// spent beyond LocalBurst: it was spent from as many buckets as there are edges.
func (s *settler) round(ctx context.Context, outage bool) error {
	now := s.now()
	for i := range s.table.sets {
		set := &s.table.sets[i]
		for j := range set.slots {
			slot := &set.slots[j]
			id, b := clientID(slot.id.Load()), bucket(slot.state.Load())
			if id == 0 || !b.due(now, s.ahead) {
				continue
			}
			d := debit{slot: slot, id: id, key: s.shared.key(id), pending: b.pending(), tokens: b.pending()}
			if outage {
				d.tokens = min(d.tokens, s.ahead/s.interval)
			}
			s.debits = append(s.debits, d)
			if len(s.debits) == batchSize {
				if err := s.flush(ctx); err != nil {
					return err
				}
			}
		}
	}
	return s.flush(ctx)
}

// flush charges the debits and opens, closes and refills their buckets by the
// answers.
func (s *settler) flush(ctx context.Context) error {
	if len(s.debits) == 0 {
		return nil
	}
	err := s.shared.charge(ctx, s.debits)
	now := s.now()
	for i := range s.debits {
		d := &s.debits[i]
		if !d.answered {
			continue
		}
		s.settled.Add(1)
		for clientID(d.slot.id.Load()) == d.id { // else the slot is another client's by now
			before := bucket(d.slot.state.Load())
			after := before.settled(now, s.ahead, s.interval, d.pending, d.credit)
			if d.slot.state.CompareAndSwap(uint64(before), uint64(after)) {
				break
			}
		}
	}
	if err == nil {
		s.heard = s.clock()
	}
	clear(s.debits) // the keys are garbage now
	s.debits = s.debits[:0]
	return err
}

// report tells OnRedis of the first state and of every change. A probe or round
// that failed before Redis was given up is neither.
func (s *settler) report() {
	err := s.health.state()
	switch {
	case !s.reported && err == nil && s.health.failures.Load() > 0:
		return // not known yet
	case s.reported && (err == nil) == (s.last == nil):
		return
	}
	s.reported, s.last = true, err
	s.onRedis(err)
}
