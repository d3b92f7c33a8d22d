package fleet

import (
	"fmt"
	"testing"
)

// AwaitShipped waits until the origins have all that the edges that run have counted so far. Nothing may be counted
// meanwhile.
func (f *Fleet) AwaitShipped(tb testing.TB) {
	tb.Helper()
	for _, e := range f.Edges {
		if e.current() != nil {
			e.AwaitShipped(tb)
		}
	}
}

// AwaitShipped waits until the origins have all that the edge has counted so far, by itself and in earlier runs on its
// state folder.
func (e *Edge) AwaitShipped(tb testing.TB) {
	tb.Helper()
	Await(tb, e.Name+" has shipped its clicks", func() error {
		m, err := e.Metrics(tb.Context())
		if err != nil {
			return err
		}
		for _, name := range []string{"waypost_edge_clicks_behind_bytes", "waypost_edge_clicks_in_memory", "waypost_edge_spool_held_bytes"} {
			n, err := m.Sum(name)
			if err != nil {
				if name == "waypost_edge_spool_held_bytes" {
					continue // without a state folder there is no spool
				}
				return err
			}
			if n != 0 {
				return fmt.Errorf("%s is %v", name, n)
			}
		}
		return nil
	})
}
