package clicks

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

// origin takes stretches.
type origin interface {
	// Clicks hands a stretch over and returns the origin's mark of the log,
	// whether the stretch was applied or not. After an error it may have been.
	Clicks(ctx context.Context, stretch []byte) (mark uint64, err error)
}

const (
	roundEvery  = 500 * time.Millisecond // what a stretch costs beside its clicks, here and at the origin, is for its links
	noteEvery   = 100 * time.Millisecond
	grace       = 250 * time.Millisecond // that the void of a click has to come
	sendTimeout = 10 * time.Second
	askTimeout  = 2 * time.Second
	firstPause  = 100 * time.Millisecond
	longPause   = 2 * time.Second
	foldPause   = 5 * time.Second
)

// errNotMoved is that the origin answered and did not apply a stretch that
// begins where its mark stands.
var errNotMoved = errors.New("origin has not applied the stretch")

// shipper brings logs to the origin: of this process, of its memory, and of
// earlier processes, in turns. It is used by one goroutine at a time.
type shipper struct {
	origin origin
	shelf  shelf

	quarantine *quarantine

	budget  int64
	memory  *memory
	voids   *voids
	builder *builder
	sources []*source // oldest first, the own one last if there is a spool
	stats   *counts
	now     func() time.Time // does not go back

	bytes int // of the next stretches: less where they do not get through
	least int // leastBytes

	shipping trouble
	folding  trouble
	removing trouble
	failures int
	retry    time.Time // of sending
	foldNext time.Time
}

// run ships until ctx ends.
func (s *shipper) run(ctx context.Context) {
	round, note := time.NewTicker(roundEvery), time.NewTicker(noteEvery)
	defer round.Stop()
	defer note.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-note.C:
			s.note()
		case <-round.C:
			s.round(ctx)
		}
	}
}

// round makes room on disk, and ships until there is nothing or the origin does
// not answer.
func (s *shipper) round(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		now := s.note()
		s.makeRoom(ctx, now)
		s.measure()
		if now.Before(s.retry) {
			return
		}
		var err error
		if more, err = s.turn(ctx, now, grace); err != nil {
			s.failed(ctx, err)
			return
		}
		s.failures = 0
		s.shipping.saw(ctx, nil)
	}
	s.measure()
}

// makeRoom folds, but after a failure not at once again: a stretch costs a second
// of a processor, and a disk that is full stays so for a while.
func (s *shipper) makeRoom(ctx context.Context, now time.Time) {
	if now.Before(s.foldNext) {
		return
	}
	err := s.fold(now)
	if err != nil {
		s.foldNext = now.Add(foldPause)
	}
	s.folding.saw(ctx, err)
}

// failed lets some time pass before the next attempt, more each time.
func (s *shipper) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the end of this process says nothing about the origin
	}
	s.stats.retries.Add(1)
	pause := min(longPause, firstPause<<min(s.failures, 10))
	s.failures++
	s.retry = s.now().Add(pause/2 + rand.N(pause/2)) //nolint:gosec // jitter, no secret
	s.shipping.saw(ctx, err)
}

// drain ships what is left, in one go and as far as ctx allows. Nobody counts
// any more, so that no void is to come.
func (s *shipper) drain(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = s.turn(ctx, s.now(), 0); err != nil {
			s.shipping.saw(ctx, err)
			return
		}
	}
}

// turn sends one parcel each of the own log, of memory, and of the oldest other
// log that has one: an old log goes first, and the own one does not wait for it.
func (s *shipper) turn(ctx context.Context, now time.Time, grace time.Duration) (more bool, err error) {
	if own := s.own(); own != nil {
		p, err := s.ship(ctx, own, own.limit(now, grace))
		if err != nil {
			return false, err
		}
		more = p.more()
	}
	p, err := s.shipMemory(ctx)
	if err != nil {
		return false, err
	}
	sent, err := s.shipOlder(ctx, now)
	return sent || p.more() || more, err
}

// shipOlder sends a parcel of a log of an earlier process: of the oldest, but one
// whose last parcel did not get through lets the others go before it.
func (s *shipper) shipOlder(ctx context.Context, now time.Time) (sent bool, err error) {
	for _, doubt := range [...]bool{false, true} {
		for _, src := range slices.Clone(s.sources) {
			if src.own || src.doubt != doubt {
				continue
			}
			p, err := s.ship(ctx, src, src.limit(now, 0))
			if err != nil {
				return false, err
			}
			s.finish(ctx, src)
			if p != nil {
				return true, nil
			}
		}
	}
	return false, nil
}

// ship sends the next parcel of a source and returns it, nil where there is
// none. Files that cannot be read now are no reason not to ship others.
func (s *shipper) ship(ctx context.Context, src *source, limit uint64) (*parcel, error) {
	if s.hopeless(src) {
		src.refusing.saw(ctx, s.isolate(src)) // if it fails, the origin is asked once more
	}
	p, err := s.next(src, limit)
	src.reading.saw(ctx, err)
	if err != nil || p == nil {
		return nil, nil //nolint:nilerr // told above
	}
	mark, err := s.send(ctx, p)
	if err != nil {
		src.doubt = true
		p.fails++
		if p.from < p.to && src.held == nil {
			src.refusals.saw(err, s.now())
		}
		return nil, err
	}
	return p, s.answered(src, p, mark)
}

func (s *shipper) shipMemory(ctx context.Context) (*parcel, error) {
	p := s.memory.next()
	if p == nil {
		return nil, nil
	}
	mark, err := s.send(ctx, p)
	if err != nil {
		s.memory.refusals.saw(err, s.now())
		if s.memory.refusals.final(s.now()) {
			err = errors.Join(err, s.isolateMemory())
		}
		return nil, err
	}
	s.stats.shipped.Add(s.memory.answered(mark))
	if mark == p.from {
		return nil, errNotMoved
	}
	return p, nil
}

// send hands a parcel over, and learns how long parcels may be. One that ran out
// of time may have been too long. Any other failure, above all of an origin that
// has too much to do, says nothing of that, and shorter ones would cost that
// origin more: most of what a stretch costs is for its links.
func (s *shipper) send(ctx context.Context, p *parcel) (mark uint64, err error) {
	timeout := sendTimeout
	if p.from == p.to {
		timeout = askTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := s.now()
	mark, err = s.origin.Clicks(ctx, p.bytes)
	switch {
	case p.from == p.to:
	case err != nil && s.now().Sub(began) >= timeout/2:
		s.bytes = max(s.bytes/2, s.least)
	case err == nil:
		s.bytes = min(s.bytes*2, stretchBytes)
	}
	return mark, err
}

func (s *shipper) own() *source {
	if n := len(s.sources); n > 0 && s.sources[n-1].own {
		return s.sources[n-1]
	}
	return nil
}

// note remembers where the own log ends now, and returns the time. The clock is
// read last: what is appended in between must not pass for older than it is.
func (s *shipper) note() (now time.Time) {
	own := s.own()
	if own == nil {
		return s.now()
	}
	end := own.log.End()
	now = s.now()
	own.ends.note(now, end)
	return now
}
