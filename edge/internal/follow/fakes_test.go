package follow

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waypost/shared/feed"
	"waypost/shared/link"
)

// center is an origin whose history a test writes.
type center struct {
	mu     sync.Mutex
	epoch  uint64
	bound  time.Duration
	ahead  time.Duration                  // its clock's lead
	log    [feed.AllShards][]*feed.Change // position i+1 at index i
	gone   uint64                         // positions up to it are no longer kept
	down   error                          // of everything
	closed error                          // of the history alone
	other  uint64                         // the epoch of the history, if it is not epoch
	pages  int
	lastAt time.Time // of the last request for changes

	probes  []arrival
	acks    []*feed.Ack
	delay   func(probe int) time.Duration // between reading the heads and their arrival; nil: none
	waiting int
	most    int // probes in flight at once
}

// arrival is a probe at an origin.
type arrival struct {
	feed.Probe
	at time.Time
}

func newCenter() *center {
	c := &center{epoch: 1, bound: time.Second, ahead: time.Hour}
	c.write(0, 5)
	c.write(feed.ConfigShard, 2)
	return c
}

func (c *center) Probe(ctx context.Context, p *feed.Probe) (*feed.Heads, error) {
	c.mu.Lock()
	c.probes = append(c.probes, arrival{Probe: *p, at: time.Now()})
	var delay time.Duration
	if c.delay != nil {
		delay = c.delay(len(c.probes))
	}
	err := c.down
	h := &feed.Heads{Epoch: c.epoch, Now: time.Now().Add(c.ahead).UnixMicro(), Bound: c.bound.Microseconds()}
	for i := range h.Seq {
		h.Seq[i] = uint64(len(c.log[i]))
	}
	c.waiting++
	c.most = max(c.most, c.waiting)
	c.mu.Unlock()
	defer c.set(func(c *center) { c.waiting-- })
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(delay):
		return h, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *center) Ack(_ context.Context, a *feed.Ack) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil {
		return c.down
	}
	c.acks = append(c.acks, a)
	return nil
}

func (c *center) Changes(_ context.Context, shard int, epoch, from uint64) (*feed.Changes, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages++
	c.lastAt = time.Now()
	if err := cmp.Or(c.down, c.closed); err != nil {
		return nil, err
	}
	head := uint64(len(c.log[shard]))
	answer := &feed.Changes{Epoch: cmp.Or(c.other, c.epoch), Shard: shard, Head: head}
	if epoch != answer.Epoch || from > head || from < c.gone {
		answer.Reset = true
		return answer, nil
	}
	rows := c.log[shard][from:]
	answer.Rows = rows[:min(len(rows), 3)] // small pages
	return answer, nil
}

func (c *center) Config(context.Context) (*feed.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := cmp.Or(c.down, c.closed); err != nil {
		return nil, err
	}
	cfg := &feed.Config{Epoch: c.epoch}
	for _, change := range c.log[feed.ConfigShard] {
		cfg = cfg.With(change)
	}
	return cfg, nil
}

// write makes n changes of a shard.
func (c *center) write(shard, n int) (made []*feed.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		change := &feed.Change{
			Epoch: c.epoch, Shard: shard, Seq: uint64(len(c.log[shard]) + 1), Kind: feed.Create,
			Key: link.Key{Code: "row"}, Value: `{"host":"row"}`,
		}
		c.log[shard] = append(c.log[shard], change)
		made = append(made, change)
	}
	return made
}

// last is when the latest probe arrived.
func (c *center) last() time.Time {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.probes[len(c.probes)-1].at
}

func (c *center) probed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.probes)
}

func (c *center) asked() (pages int, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages, c.lastAt
}

func (c *center) set(change func(*center)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// edge is a running follower.
type edge struct {
	*Follower
	table   *feed.Table
	logged  *bytes.Buffer // read it while the bubble rests
	mu      sync.Mutex
	applied []*feed.Change
	lags    []time.Duration
	stop    context.CancelFunc
	stopped chan error
}

// slots of a test's tables.
const slots = 64

// newEdge makes a follower without NATS, changed as the test wants it before
// it runs; the test hands it feed messages.
func newEdge(c *center, table *feed.Table, change ...func(*Config)) *edge {
	e := &edge{table: table, logged: new(bytes.Buffer), stopped: make(chan error, 1)}
	cfg := Config{
		Table: e.table, Origin: c, History: c, Prefix: "t", ID: "edge",
		Logger: slog.New(slog.NewTextHandler(e.logged, nil)),
		Applied: func(change *feed.Change) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.applied = append(e.applied, change)
		},
		Lag: func(lag time.Duration) { e.lags = append(e.lags, lag) },
	}
	for _, change := range change {
		change(&cfg)
	}
	e.Follower = New(cfg)
	return e
}

func (e *edge) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	e.stop = cancel
	go func() { e.stopped <- e.Run(ctx) }()
}

func start(t *testing.T, c *center) *edge {
	t.Helper()
	e := newEdge(c, feed.NewTable(slots, 1))
	e.run(t)
	return e
}

func (e *edge) push(changes ...*feed.Change) {
	for _, c := range changes {
		e.messages <- message{Change: c}
	}
}

func (e *edge) at(t *testing.T, shard int, epoch, want uint64) {
	t.Helper()
	synctest.Wait()
	gotEpoch, got, ok := e.table.Position(shard)
	if !ok || gotEpoch != epoch || got != want {
		t.Errorf("shard %d: got (%d, %d, %v), want (%d, %d)", shard, gotEpoch, got, ok, epoch, want)
	}
}

// leased fails unless the lease of a shard runs from the given time.
func (e *edge) leased(t *testing.T, shard int, from time.Time) {
	t.Helper()
	synctest.Wait()
	want := feed.Instant(from.Sub(e.start)) + 1
	if got := e.table.Lease(shard); got != want {
		t.Errorf("lease of shard %d: got instant %v, want %v", shard, time.Duration(got), time.Duration(want))
	}
}

// unleased fails if the shard has a lease.
func (e *edge) unleased(t *testing.T, shard int) {
	t.Helper()
	synctest.Wait()
	if got := e.table.Lease(shard); got != 0 {
		t.Errorf("lease of shard %d: got instant %v, want none", shard, time.Duration(got))
	}
}

func (e *edge) end(t *testing.T) {
	t.Helper()
	e.stop()
	if err := <-e.stopped; err != nil {
		t.Error(err)
	}
}

// inBubble runs a test beside an edge that is up to date.
func inBubble(t *testing.T, test func(*testing.T, *center, *edge)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCenter()
		e := start(t, c)
		e.at(t, 0, 1, 5)
		e.at(t, feed.ConfigShard, 1, 2)
		test(t, c, e)
		e.end(t)
	})
}
