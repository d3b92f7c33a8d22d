package fleet

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
)

// Load sends n requests over conns connections that are kept alive, the i-th made by request(i) and its answer given
// to check, which may be called from many goroutines at once. All connections are open before the first request. It
// returns the first error of each connection, which ends that connection's share.
func (e *Edge) Load(ctx context.Context, conns, n int, request func(i int) Request, check func(i int, r Reply) error) []error {
	var (
		errs  = make([]error, conns)
		open  = make([]*Conn, conns)
		ready sync.WaitGroup
		done  sync.WaitGroup
	)
	ready.Add(conns)
	for c := range conns {
		done.Go(func() {
			open[c], errs[c] = Connect(ctx, e.Addr, netip.Addr{})
			ready.Done()
			ready.Wait()
			if errs[c] != nil {
				return
			}
			defer open[c].Close() //nolint:errcheck // all its answers are here
			for i := c; i < n; i += conns {
				reply, err := open[c].Ask(request(i))
				if err == nil {
					err = check(i, reply)
				}
				if err != nil {
					errs[c] = fmt.Errorf("%s, request %d: %w", e.Name, i, err)
					return
				}
			}
		})
	}
	done.Wait()
	var failed []error
	for _, err := range errs {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}
