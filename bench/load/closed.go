package load

import (
	"context"
	"fmt"
	"time"
)

// Closed is a closed loop for a time: each connection sends its next request when it has the answer to the last one. It
// returns when the last answer has come. It tells what a server can do, and nothing of how long its clients wait: a
// server that stalls is asked less. The end of ctx is an error, as is a wrong answer.
func (g *Generator) Closed(ctx context.Context, lasting time.Duration) (Result, error) {
	run := g.begin(lasting)
	defer run.release()
	for i := range g.conns {
		if err := g.askNext(&g.conns[i]); err != nil {
			return Result{}, fmt.Errorf("closed loop: %w", err)
		}
	}
	for open := len(g.conns); open > 0; {
		events, err := run.await(ctx, waitMost)
		if err != nil {
			return Result{}, fmt.Errorf("closed loop: %w", err)
		}
		more := run.since() < lasting
		for _, event := range events {
			c := &g.conns[event.Fd]
			_, whole, err := run.answered(c)
			if err == nil && whole {
				if more {
					err = g.askNext(c)
				} else {
					open--
				}
			}
			if err != nil {
				return Result{}, fmt.Errorf("closed loop: %w", err)
			}
		}
	}
	return run.end(), nil
}

// askNext sends a connection's next request.
func (g *Generator) askNext(c *conn) error {
	ask := c.next % len(g.plan.Asks)
	c.next = ask + 1
	return g.ask(c, ask, 0)
}
