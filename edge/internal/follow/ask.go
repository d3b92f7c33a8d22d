package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"waypost/shared/feed"
)

// errAway says that a probe was not sent over NATS.
var errAway = errors.New("nats: not connected")

// nearby is how long a probe over a near NATS server may stay unanswered before
// it is sent over HTTP as well.
const nearby = 50 * time.Millisecond

// asker sends probes: over NATS while that answers, over HTTP where NATS is
// away, says no, or takes its time. A NATS server that swallows requests costs
// no lease: while one is not answered, later probes go both ways at once.
type asker struct {
	bus     bus // nil: HTTP alone
	subject string
	origin  origin
	work    *sync.WaitGroup
	slots   chan struct{} // one for each request over NATS
	doubt   atomic.Bool   // the last request over NATS was not answered
	round   atomic.Int64  // of the last one that was, nanoseconds
}

type answered struct {
	heads *feed.Heads
	err   error
}

func newAsker(wire bus, subject string, over origin, work *sync.WaitGroup) *asker {
	return &asker{bus: wire, subject: subject, origin: over, work: work, slots: make(chan struct{}, maxProbes)}
}

// ask returns the first answer, or every way's error when none is left; after
// twice probeTimeout at the latest. What it started may go on beside it for
// probeTimeout and belongs to work. The error wraps ctx's if ctx has ended.
func (a *asker) ask(ctx context.Context, p *feed.Probe) (*feed.Heads, error) {
	answers := make(chan answered, 2)
	var late <-chan time.Time // when to try the other way; nil: it has been
	flying := 1
	if !a.overNATS(ctx, p, answers) {
		a.overHTTP(ctx, p, answers)
	} else if a.doubt.Load() {
		a.overHTTP(ctx, p, answers)
		flying++
	} else {
		timer := time.NewTimer(a.patience())
		defer timer.Stop()
		late = timer.C
	}
	var faults error
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late:
			a.doubt.Store(true)
		case got := <-answers:
			if got.err == nil {
				return got.heads, nil
			}
			faults = both(faults, got.err)
			flying--
		}
		switch {
		case late != nil:
			late = nil
			a.overHTTP(ctx, p, answers)
			flying++
		case flying == 0:
			return nil, faults
		}
	}
}

// both is for one line of text.
func both(first, second error) error {
	if first == nil {
		return second
	}
	return fmt.Errorf("%w; %w", first, second)
}

// patience allows for a NATS server that is further away.
func (a *asker) patience() time.Duration {
	return max(nearby, min(2*time.Duration(a.round.Load()), probeEvery))
}

// overNATS is false where there is no NATS, or too many requests there are not
// answered yet.
func (a *asker) overNATS(ctx context.Context, p *feed.Probe, answers chan<- answered) bool {
	if a.bus == nil {
		return false
	}
	select {
	case a.slots <- struct{}{}:
	default:
		return false
	}
	a.work.Go(func() {
		defer func() { <-a.slots }()
		sent := time.Now()
		heads, err := a.request(ctx, p)
		a.doubt.Store(err != nil)
		if err == nil {
			a.round.Store(int64(time.Since(sent)))
		}
		answers <- answered{heads, err}
	})
	return true
}

func (a *asker) request(ctx context.Context, p *feed.Probe) (*feed.Heads, error) {
	if !a.bus.IsConnected() {
		return nil, errAway
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	m, err := a.bus.RequestWithContext(ctx, a.subject, p.Append(nil))
	if err != nil {
		return nil, fmt.Errorf("nats: probe: %w", err)
	}
	heads, err := feed.ParseHeads(m.Data)
	if err != nil {
		return nil, fmt.Errorf("nats: probe: %w", err)
	}
	return heads, nil
}

func (a *asker) overHTTP(ctx context.Context, p *feed.Probe, answers chan<- answered) {
	a.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		heads, err := a.origin.Probe(ctx, p)
		answers <- answered{heads, err}
	})
}
