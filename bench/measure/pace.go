package measure

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Pace is an open loop: each job has its time, whether or not those before it are done. What a slow service holds up
// shows in the jobs' lateness, once all workers are busy, and never makes the load lighter.
type Pace struct {
	Every   time.Duration // from one job's time to the next one's
	Jobs    int
	Workers int // jobs at once
}

// Run does the jobs and returns by how much each began after its time. It ends early when ctx does, which is no error,
// or with the first job that fails. do is told which worker it runs in, from 0 on: what one worker does never overlaps.
func (p Pace) Run(ctx context.Context, do func(worker, job int) error) (late Sample, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	due := make(chan int, p.Jobs) // room for all: the clock never waits for a worker
	failed := make([]error, p.Workers)
	waits := make([][]time.Duration, p.Workers)
	var workers sync.WaitGroup
	for w := range p.Workers {
		workers.Go(func() {
			for job := range due {
				if ctx.Err() != nil {
					return
				}
				waits[w] = append(waits[w], time.Since(start)-time.Duration(job)*p.Every)
				if failed[w] = do(w, job); failed[w] != nil {
					cancel()
					return
				}
			}
		})
	}
	p.tick(ctx, start, due)
	workers.Wait()
	var all []time.Duration
	for _, some := range waits {
		all = append(all, some...)
	}
	return NewSample(all), errors.Join(failed...)
}

// tick hands out each job at its time, until ctx ends.
func (p Pace) tick(ctx context.Context, start time.Time, due chan<- int) {
	defer close(due)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for job := range p.Jobs {
		timer.Reset(time.Until(start.Add(time.Duration(job) * p.Every)))
		select {
		case <-timer.C:
			due <- job
		case <-ctx.Done():
			return
		}
	}
}
