package load

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Open is an open loop at a fixed rate, in requests a second: every request has its time, the first one at once, and
// goes out then if a connection is free, else as soon as one is. Its latency counts from its time, so that a server
// that stalls is charged for all requests that were due meanwhile, whether or not they could be sent. It returns when
// all of them have been answered, late as they may be within the plan's patience. The end of ctx is an error, as is a wrong answer.
func (g *Generator) Open(ctx context.Context, rate float64, lasting time.Duration) (Result, error) {
	o := opening{
		run: g.begin(lasting), every: float64(time.Second) / rate, n: int(math.Ceil(rate * lasting.Seconds())), idle: newRing(len(g.conns)),
	}
	defer o.run.release()
	for i := range g.conns {
		o.idle.push(i)
	}
	for o.run.got.Answers < o.n {
		if err := o.turn(ctx, g); err != nil {
			return Result{}, fmt.Errorf("open loop at %.0f/s: %w", rate, err)
		}
	}
	return o.run.end(), nil
}

// opening is an open loop as it runs.
type opening struct {
	run   *run
	every float64 // ns from one request's time to the next one's
	n     int     // requests in all
	sent  int     // also the index of the one that is sent next: late ones queue in the order of their times
	idle  *ring   // connections; the one that was idle the longest is used first, so that all are used alike
}

// due is the time of the i-th request, since the start.
func (o *opening) due(i int) time.Duration { return time.Duration(float64(i) * o.every) }

// turn sends what is due and takes in what has come, until there is nothing of either.
func (o *opening) turn(ctx context.Context, g *Generator) error {
	if err := o.send(g, o.run.since()); err != nil {
		return err
	}
	wait := waitMost
	if o.sent < o.n && o.idle.n > 0 {
		wait = min(wait, o.due(o.sent)-o.run.since())
	}
	events, err := o.run.await(ctx, wait)
	if err != nil {
		return err
	}
	for _, event := range events {
		c := &g.conns[event.Fd]
		class, whole, err := o.run.answered(c)
		if err != nil {
			return err
		}
		if !whole {
			continue
		}
		now := o.run.since()
		o.run.got.Classes[class].Times.add(now - c.due)
		o.idle.push(int(event.Fd))
		// Here too, for what is due must not wait for the other answers of this turn.
		if err := o.send(g, now); err != nil {
			return err
		}
	}
	return nil
}

// send sends all that is due, as far as connections are idle.
func (o *opening) send(g *Generator, now time.Duration) error {
	for o.sent < o.n && o.idle.n > 0 && o.due(o.sent) <= now {
		c := &g.conns[o.idle.pop()]
		due := o.due(o.sent)
		if err := g.ask(c, o.sent%len(g.plan.Asks), due); err != nil {
			return err
		}
		o.run.got.Late.add(now - due)
		o.sent++
	}
	return nil
}
