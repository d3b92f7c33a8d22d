package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"waypost/bench/fleet"
)

// visitor is a client of two edges as a load balancer makes it: it keeps its connection until the edge ends it, and
// connects to the other edge then, or to whichever listens.
type visitor struct {
	edges []*fleet.Edge
	at    int // index of the edge it is connected to
	conn  *fleet.Conn
}

// ask sends one request. After a connection was made nothing may go wrong.
func (v *visitor) ask(ctx context.Context, path string) (fleet.Reply, error) {
	if v.conn == nil {
		if err := v.connect(ctx); err != nil {
			return fleet.Reply{}, err
		}
	}
	r, err := v.conn.Ask(fleet.Request{Path: path})
	if err != nil {
		return r, fmt.Errorf("lost by %s: %w", v.edges[v.at].Name, err)
	}
	if r.Close {
		err = v.conn.Close()
		v.conn = nil
	}
	return r, err
}

func (v *visitor) connect(ctx context.Context) error {
	var refused error
	for range v.edges {
		v.at = (v.at + 1) % len(v.edges)
		conn, err := fleet.Connect(ctx, v.edges[v.at].Addr, netip.Addr{})
		if err == nil {
			v.conn = conn
			return nil
		}
		refused = errors.Join(refused, err)
	}
	return refused
}

func TestRollingRestartOfTheEdgesLosesNoRequest(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{EdgeEnv: map[string]string{"WAYPOST_DRAIN": "1s"}})
	links := numbered(t, f.API(t), "rolling", 50)
	f.Settle(t)

	var done atomic.Bool
	var visitors sync.WaitGroup
	var answered, moved atomic.Int64
	for n := range 16 {
		visitors.Go(func() {
			v := visitor{edges: f.Edges, at: n % len(f.Edges)}
			for i := n; !done.Load(); i++ {
				l := links[i%len(links)]
				was := v.at
				r, err := v.ask(t.Context(), l.Path())
				if err == nil {
					err = leads(r, l.Target)
				}
				if err != nil {
					t.Error(err)
					return
				}
				answered.Add(1)
				if v.at != was {
					moved.Add(1)
				}
			}
			if v.conn != nil {
				_ = v.conn.Close()
			}
		})
	}
	for _, e := range f.Edges {
		rolled(t, e, &answered)
	}
	done.Store(true)
	visitors.Wait()
	t.Logf("%d requests answered, %d changes of the edge", answered.Load(), moved.Load())
	if moved.Load() < 16 {
		t.Errorf("%d changes of the edge: the visitors were not there when it stopped", moved.Load())
	}
}

// rolled restarts an edge, once visitors have been served since the last one, and sees that it says it is leaving.
func rolled(t *testing.T, e *fleet.Edge, answered *atomic.Int64) {
	t.Helper()
	from := answered.Load()
	fleet.Await(t, "visitors are served", func() error {
		if got := answered.Load() - from; got < 500 {
			return fmt.Errorf("%d answers", got)
		}
		return nil
	})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		e.Stop(t)
	}()
	fleet.Await(t, e.Name+" says that it is leaving", func() error {
		r, err := e.Ready(t.Context())
		if err == nil && r.Code != http.StatusServiceUnavailable {
			err = fmt.Errorf("/readyz: %d", r.Code)
		}
		return err
	})
	<-stopped
	e.Start(t)
}

// An origin that is told to stop answers what it has, and the other one goes on.
func TestRollingRestartOfTheOriginsLosesNoWrite(t *testing.T) {
	t.Parallel()
	f := start(t, fleet.Spec{Origins: 2, OriginEnv: map[string]string{"WAYPOST_DRAIN": "1s"}})
	var gate sync.RWMutex // held for writing while no origin of the other name may be used
	leaving := -1
	var done atomic.Bool
	apis := []*fleet.API{f.APIOf(t, f.Origins[0]), f.APIOf(t, f.Origins[1])}
	var writers sync.WaitGroup
	var made [8][]fleet.Link
	for n := range made {
		writers.Go(func() {
			for i := 0; !done.Load(); i++ {
				gate.RLock()
				use := i % 2
				if use == leaving {
					use = 1 - use
				}
				gate.RUnlock()
				l, err := apis[use].Create(t.Context(), fleet.Fields{"target": targetOf(fmt.Sprintf("writer-%d", n), i)})
				if err != nil {
					t.Errorf("by origin %d: %v", use, err)
					return
				}
				made[n] = append(made[n], l)
			}
		})
	}
	for i, o := range f.Origins {
		// The balancer sees /readyz say that it leaves, within the drain, and turns away then.
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			o.Stop(t)
		}()
		fleet.Await(t, o.Name+" says that it is leaving", func() error {
			r, err := o.Ready(t.Context())
			if err == nil && r.Code != http.StatusServiceUnavailable {
				err = fmt.Errorf("/readyz: %d", r.Code)
			}
			return err
		})
		gate.Lock()
		leaving = i
		gate.Unlock()
		<-stopped
		o.Start(t)
		gate.Lock()
		leaving = -1
		gate.Unlock()
	}
	done.Store(true)
	writers.Wait()
	f.Settle(t)
	for n := range made {
		if len(made[n]) == 0 {
			t.Errorf("writer %d wrote nothing", n)
		}
		allLead(t, f.Edges[n%2], 4, made[n])
	}
}
