package limit

import (
	"sync"
	"testing"
	"time"

	"waypost/deploy/services"
)

// exactEdges returns two edges in mode Exact on one Redis that is never given up.
func exactEdges(t *testing.T, rate float64, burst int) [2]*Limiter {
	t.Helper()
	t.Helper()
	addr := services.Redis(t).Addr()
	var edges [2]*Limiter
	for i := range edges {
		edges[i] = mustNew(t, Config{Mode: Exact, Rate: rate, Burst: burst, Redis: connect(t, addr), Prefix: "wp", Timeout: patience})
	}
	return edges
}

func TestExactAdmitsTheCapacityOnceInTheRegion(t *testing.T) {
	t.Parallel()
	const burst, parallel = 20, 32
	edges := exactEdges(t, 0.001, burst) // the next token is there in 17 minutes
	var wg sync.WaitGroup
	for _, l := range edges {
		for range parallel {
			wg.Go(func() { l.Allow(t.Context(), visitor) })
		}
	}
	wg.Wait()
	if got := edges[0].Stats().Admitted + edges[1].Stats().Admitted; got != burst {
		t.Errorf("of %d parallel requests on two edges: admitted %d, want exactly %d", 2*parallel, got, burst)
	}
	if got := edges[0].Stats().Limited + edges[1].Stats().Limited; got != 2*parallel-burst {
		t.Errorf("limited: got %d, want %d", got, 2*parallel-burst)
	}
	if got := edges[0].Allow(t.Context(), visitor); got.OK || got.RetryAfter < 900 || got.RetryAfter > 1000 {
		t.Errorf("Allow: got %+v, want a refusal of 900 to 1000 s", got)
	}
	if got := edges[1].Allow(t.Context(), network(1)); !got.OK {
		t.Errorf("Allow of another client: got %+v, want OK", got)
	}
}

func TestExactHasConnectionsBeforeVisitorsCome(t *testing.T) {
	t.Parallel()
	p := services.NewProxy(t, services.Redis(t).Addr())
	p.Delay(20 * time.Millisecond) // so that none is free again before all have been asked for
	client := connect(t, p.Addr())
	running(t, mustNew(t, Config{Mode: Exact, Rate: 1, Burst: 1, Redis: client, Prefix: "wp"}))
	eventually(t, "connections are idle", func() bool { return client.PoolStats().IdleConns >= warmConns })
}

func TestExactAdmitsCapacityAndRefillNeverMore(t *testing.T) {
	t.Parallel()
	const burst, parallel, rate = 10, 32, 200
	edges := exactEdges(t, rate, burst)
	var wg sync.WaitGroup
	start := time.Now()
	for _, l := range edges {
		for range parallel {
			wg.Go(func() { admitted(t, l, visitor, 40) })
		}
	}
	wg.Wait()
	elapsed := time.Since(start)
	got := edges[0].Stats().Admitted + edges[1].Stats().Admitted
	if most := burst + uint64(rate*elapsed.Seconds()); got > most {
		t.Errorf("in %v: admitted %d, want at most %d", elapsed, got, most)
	}
	if got < burst {
		t.Errorf("in %v: admitted %d, want at least the burst of %d", elapsed, got, burst)
	}
}
