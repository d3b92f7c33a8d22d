package limit

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waypost/deploy/services"
)

// edge is a limiter whose settling rounds the test makes itself.
type edge struct {
	*Limiter
	settler *settler
}

// asyncEdges returns n edges in mode Async on one Redis that is never given up.
func asyncEdges(t *testing.T, n int, cfg Config) []edge {
	t.Helper()
	t.Helper()
	addr := services.Redis(t).Addr()
	cfg.Prefix, cfg.Timeout = "wp", patience
	edges := make([]edge, n)
	for i := range edges {
		cfg.Redis = connect(t, addr)
		l := mustNew(t, cfg)
		edges[i] = edge{l, newSettler(l)}
	}
	return edges
}

// settleNow makes one settling round.
func (e edge) settleNow(t *testing.T) time.Duration {
	t.Helper()
	t.Helper()
	pause := e.settler.step(t.Context())
	if got := e.Stats().SettleErrors; got != 0 {
		t.Fatalf("settling errors: got %d, want 0", got)
	}
	return pause
}

func TestAsyncEdgeAdmitsTheWholeBurstAlone(t *testing.T) {
	t.Parallel()
	var h hand
	e := asyncEdges(t, 1, Config{Rate: 0.01, Burst: 30, Clock: h.clock})[0]
	got := 0
	for range 10 {
		got += admitted(t, e.Limiter, visitor, 7)
		e.settleNow(t)
	}
	if got != 30 {
		t.Errorf("one edge that settles: admitted %d, want exactly the burst of 30", got)
	}
}

func TestSmallLocalBurstIsRefilledByEveryRound(t *testing.T) {
	t.Parallel()
	var h hand
	e := asyncEdges(t, 1, Config{Rate: 0.01, Burst: 30, LocalBurst: 4, Clock: h.clock})[0]
	for round, want := range []int{4, 4, 4, 4, 4, 4, 4, 2, 0, 0} {
		if got := admitted(t, e.Limiter, visitor, 10); got != want {
			t.Errorf("round %d: admitted %d, want %d", round, got, want)
		}
		e.settleNow(t)
	}
}

func TestEdgeLearnsWhatAnotherSpent(t *testing.T) {
	t.Parallel()
	var h hand
	edges := asyncEdges(t, 2, Config{Rate: 0.01, Burst: 30, Clock: h.clock})
	a, b := edges[0], edges[1]
	if got := admitted(t, a.Limiter, visitor, 20); got != 20 {
		t.Fatalf("first edge: admitted %d, want 20", got)
	}
	a.settleNow(t)
	if got := admitted(t, b.Limiter, visitor, 1); got != 1 {
		t.Fatalf("second edge: admitted %d, want 1", got)
	}
	b.settleNow(t)
	if got := admitted(t, b.Limiter, visitor, 20); got != 9 {
		t.Errorf("second edge, settled: admitted %d, want the 9 that are left", got)
	}
}

func TestEdgeInDebtStaysClosedUntilRedisSaysOtherwise(t *testing.T) {
	t.Parallel()
	const burst = 30
	var h hand
	edges := asyncEdges(t, 2, Config{Rate: 0.01, Burst: burst, Clock: h.clock})
	for _, e := range edges {
		if got := admitted(t, e.Limiter, visitor, 2*burst); got != burst {
			t.Fatalf("before settling: admitted %d, want %d", got, burst)
		}
	}
	edges[0].settleNow(t)
	edges[1].settleNow(t) // 30 tokens in debt: 3000 s
	h.advance(3 * time.Hour)
	if got := admitted(t, edges[1].Limiter, visitor, 1); got != 0 {
		t.Errorf("by the edge's clock alone: admitted %d, want 0", got)
	}
	// Redis' clock has not moved by three hours, so it is a debt still.
	edges[1].settleNow(t)
	if got := admitted(t, edges[1].Limiter, visitor, 1); got != 0 {
		t.Errorf("after a round that found a debt: admitted %d, want 0", got)
	}
	if err := edges[1].shared.client.Del(t.Context(), edges[1].shared.key(visitor.id())).Err(); err != nil {
		t.Fatal(err)
	}
	h.advance(3 * time.Hour)
	edges[1].settleNow(t)
	if got := admitted(t, edges[1].Limiter, visitor, 2*burst); got != burst {
		t.Errorf("after a round that found a full bucket: admitted %d, want %d", got, burst)
	}
}

func TestClientThatWaitsIsAdmittedAgain(t *testing.T) {
	t.Parallel()
	e := asyncEdges(t, 1, Config{Rate: 100, Burst: 10})[0]
	admitted(t, e.Limiter, visitor, 50)
	running(t, e.Limiter)
	eventually(t, "admitted again", func() bool { return admitted(t, e.Limiter, visitor, 1) == 1 })
}

func TestEverythingAdmittedIsChargedOnce(t *testing.T) {
	t.Parallel()
	const clients, burst = batchSize + 100, 10
	var h hand
	edges := asyncEdges(t, 2, Config{Rate: 0.001, Burst: burst, Table: DefaultTable, Clock: h.clock})
	var sizes pipelineSizes
	for _, e := range edges {
		e.shared.client.AddHook(&sizes)
	}
	for n := range clients {
		for i, e := range edges {
			admitted(t, e.Limiter, network(n), n%3+i)
		}
	}
	for range 3 {
		for _, e := range edges {
			e.settleNow(t)
		}
	}
	s := edges[0].shared
	for n := range clients {
		read := []debit{{key: s.key(network(n).id())}}
		if err := s.charge(t.Context(), read); err != nil {
			t.Fatal(err)
		}
		want := int64(2*(n%3) + 1)
		if got := burst - read[0].credit/s.interval; got != want {
			t.Fatalf("client %d: charged %d, want %d", n, got, want)
		}
	}
	if got := sizes.largest.Load(); got != batchSize {
		t.Errorf("largest pipeline: got %d commands, want %d", got, batchSize)
	}
}

// pipelineSizes is a hook that keeps the size of the largest pipeline.
type pipelineSizes struct{ largest atomic.Int64 }

func (p *pipelineSizes) DialHook(next redis.DialHook) redis.DialHook { return next }

func (p *pipelineSizes) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (p *pipelineSizes) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		p.largest.Store(max(p.largest.Load(), int64(len(cmds))))
		return next(ctx, cmds)
	}
}

func TestAnswerAboutAClientThatLostItsSlotIsDropped(t *testing.T) {
	t.Parallel()
	var h hand
	e := asyncEdges(t, 1, Config{Rate: 0.01, Burst: 10, Clock: h.clock})[0]
	admitted(t, e.Limiter, visitor, 10)
	id := visitor.id()
	slot := e.table.set(id).find(id)
	e.settler.debits = append(e.settler.debits, debit{slot: slot, id: id, key: e.shared.key(id), pending: 10, tokens: 10})
	// What happens while the round is under way:
	slot.id.Store(uint64(network(1).id()))
	slot.state.Store(uint64(newBucket(0, 3, false)))
	if err := e.settler.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := bucket(slot.state.Load()), newBucket(0, 3, false); got != want {
		t.Errorf("bucket of the slot's new client: got %x, want %x, untouched", got, want)
	}
}

func TestStatsTellOfSettling(t *testing.T) {
	t.Parallel()
	var h hand
	e := asyncEdges(t, 1, Config{Rate: 1, Burst: 10, Clock: h.clock})[0]
	for _, c := range []Client{visitor, network(1), network(2)} {
		admitted(t, e.Limiter, c, 2)
	}
	e.settleNow(t)
	h.advance(70 * time.Millisecond)
	e.settleNow(t)
	got := e.Stats()
	if got.Admitted != 6 || got.Settled != 3 || got.Window != 70*time.Millisecond || !got.RedisUp {
		t.Errorf("Stats: got %+v, want 6 admitted, 3 settled, a window of 70 ms, Redis up", got)
	}
}

func TestAsyncAllowNeverCallsRedis(t *testing.T) {
	t.Parallel()
	l := mustNew(t, Config{Rate: 50, Burst: 100, Redis: untouchable(t)})
	if got := admitted(t, l, visitor, 1000); got < 100 {
		t.Errorf("admitted: got %d, want the burst of 100 or more", got)
	}
}
