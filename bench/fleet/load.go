package fleet

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
)

// Load is a number of requests over connections that are kept alive.
type Load struct {
	Conns   int                        // all are open before the first request
	N       int                        // requests
	From    netip.Addr                 // the clients' address, one of 127.0.0.0/8; zero: any
	Request func(i int) Request        // the i-th
	Check   func(i int, r Reply) error // judges its answer; called from many goroutines at once
	Ready   func()                     // nil, or called for each connection once all are open, before the first request
}

// Run sends the load and returns the first error of each connection, which ends that connection's share.
func (e *Edge) Run(ctx context.Context, l Load) (failed []error) {
	var (
		errs       = make([]error, l.Conns)
		open, done sync.WaitGroup
	)
	open.Add(l.Conns)
	for n := range l.Conns {
		done.Go(func() {
			conn, err := Connect(ctx, e.Addr, l.From)
			open.Done()
			open.Wait()
			if l.Ready != nil {
				l.Ready()
			}
			if err == nil {
				err = l.share(conn, n)
			}
			errs[n] = err
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", e.Name, err))
		}
	}
	return failed
}

// share sends every Conns-th request from the n-th on.
func (l *Load) share(conn *Conn, n int) error {
	defer conn.Close() //nolint:errcheck // all its answers are here
	for i := n; i < l.N; i += l.Conns {
		reply, err := conn.Ask(l.Request(i))
		if err == nil {
			err = l.Check(i, reply)
		}
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	return nil
}
